import { access, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import type { KubeObject } from '../../reconciler/kube/object.ts';
import type { Binaries } from './binaries.ts';
import { goDirectory, pinnedVersion } from './families.ts';
import { step, type Report } from './progress.ts';
import { run } from './run.ts';

/** A manager of Cluster API. */
export interface Provider {
  /** Name of its upstream image, and of what is cached. */
  readonly name: string;
  /** Folder of Cluster API's module that kustomize renders. */
  readonly folder: string;
}

export const clusterApiCore: Provider = { name: 'cluster-api-controller', folder: 'core/config/default' };

export const kubeadmBootstrap: Provider = {
  name: 'kubeadm-bootstrap-controller',
  folder: 'bootstrap/kubeadm/config/default',
};

/** Where the values differ from the defaults that the components carry as `${NAME:=default}`. */
const variables: Readonly<Record<string, string>> = { CLUSTER_TOPOLOGY: 'true' };

const AnyObject = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().exactOptional() }),
});

/** The objects of a provider as its own kustomize folder renders them. They are rendered once and kept in the cache. */
export async function providerComponents(
  cache: string,
  provider: Provider,
  binaries: Binaries,
  report: Report,
): Promise<KubeObject[]> {
  const version = await pinnedVersion('cluster-api', 'sigs.k8s.io/cluster-api');
  const directory = join(cache, 'components');
  const path = join(directory, `${provider.name}-${version}.json`);
  if (!(await exists(path))) {
    await step(report, `rendered the components of ${provider.name} ${version}`, async () => {
      await mkdir(directory, { recursive: true });
      await writeFile(`${path}.partial`, JSON.stringify(await render(provider, binaries)));
      await rename(`${path}.partial`, path);
    });
  }
  // variables are put in when it is read: another value needs no other file
  return z.array(AnyObject).parse(JSON.parse(substitute(await readFile(path, 'utf8'), variables)));
}

/** Puts values in the place of `${NAME:=default}`. */
export function substitute(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\{(\w+):=([^}]*)\}/g, (_, name: string, byDefault: string) => values[name] ?? byDefault);
}

async function render(provider: Provider, binaries: Binaries): Promise<unknown[]> {
  const download = ['go', 'mod', 'download', '-json', 'sigs.k8s.io/cluster-api'] as const;
  const answer: unknown = JSON.parse(await run(download, { cwd: join(goDirectory, 'cluster-api') }));
  const { Dir: module } = z.object({ Dir: z.string() }).parse(answer);
  const yaml = await run([binaries['kubectl'] ?? 'kubectl', 'kustomize', join(module, provider.folder)]);
  return parseAllDocuments(yaml).map((document): unknown => document.toJS());
}

/** An object from its JSON. Throws when it is none. */
export function parseObject(json: string): KubeObject {
  return AnyObject.parse(JSON.parse(json));
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
