import { access, mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { pinnedVersion } from './families.ts';
import { moduleDirectory } from './go-module.ts';
import type { ModuleManifests } from './module-manifests.ts';
import { step, type Report } from './progress.ts';
import { run } from './run.ts';

const AnyObject = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().exactOptional() }),
});

/** Parses an object from JSON. Throws if it is not one. */
export function parseObject(json: string): KubeObject {
  return AnyObject.parse(JSON.parse(json));
}

/** Parses a list of objects from JSON. */
export function parseObjects(json: string): KubeObject[] {
  return z.array(AnyObject).parse(JSON.parse(json));
}

/**
 * The JSON of the result of `render`, which is called once and cached: the name must identify everything the result depends on.
 * Two processes must not do this at the same time with one cache.
 */
export async function renderedOnce(
  cache: string,
  name: string,
  report: Report,
  render: () => Promise<unknown[]>,
): Promise<string> {
  const directory = join(cache, 'components');
  const path = join(directory, `${name}.json`);
  if (!(await exists(path))) {
    await step(report, `rendered ${name}`, async () => {
      await mkdir(directory, { recursive: true });
      await writeFile(`${path}.partial`, JSON.stringify(await render()));
      await rename(`${path}.partial`, path);
    });
  }
  return readFile(path, 'utf8');
}

/** The objects in a module's manifests, cached as JSON: parsing the YAML of CRDs takes a second. */
export async function moduleObjects(cache: string, manifests: ModuleManifests, report: Report): Promise<KubeObject[]> {
  const { name, family, module } = manifests;
  const version = await pinnedVersion(family, module);
  return parseObjects(await renderedOnce(cache, `${name}-${version}`, report, () => manifestObjects(manifests)));
}

/** The objects in a module's manifests, read from the module. */
export async function manifestObjects({ family, module, paths }: ModuleManifests): Promise<KubeObject[]> {
  const directory = await moduleDirectory(family, module);
  const files = await Promise.all(paths.map((path) => yamlFiles(join(directory, path))));
  const texts = await Promise.all(files.flat().map((file) => readFile(file, 'utf8')));
  return z.array(AnyObject).parse(texts.flatMap(documentsOf));
}

/** What kustomize renders from a folder of a module, with the kubectl at this path. */
export async function kustomized(kubectlPath: string, module: string, folder: string): Promise<unknown[]> {
  return documentsOf(await run([kubectlPath, 'kustomize', join(module, folder)]));
}

/** The documents of a YAML text, without empty ones. */
export function documentsOf(yaml: string): unknown[] {
  return parseAllDocuments(yaml)
    .map((document): unknown => document.toJS())
    .filter((content) => content !== null);
}

async function yamlFiles(path: string): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return [path];
  const files = (await readdir(path)).filter((file) => file.endsWith('.yaml'));
  return files.sort().map((file) => join(path, file));
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
