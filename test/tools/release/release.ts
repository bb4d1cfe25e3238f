import { copyFile, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { auditImageIn } from '../../../constructs/control-plane/api-server/audit/fan-out.ts';
import { providerChart, providerChartFiles } from '../../../constructs/provider/helm/chart.ts';
import { managerImageIn } from '../../../constructs/provider/image.ts';
import { renderInstallation } from '../../../constructs/distribution.ts';
import { type Architecture, architectures } from '../testbed/oci.ts';
import { fileDigest } from '../testbed/file-digest.ts';
import { bundleOperator, commandLines } from '../testbed/operator-bundle.ts';
import { type Report, step } from '../testbed/progress.ts';
import { writeArchive, writeFiles } from './archive.ts';
import { billOfMaterials } from './bill-of-materials.ts';
import { changelog } from './changelog.ts';
import { checksumsFile, fileChecksums } from './checksums.ts';
import { prepareProgram, writeProgram } from './command-line.ts';
import { writeImages } from './images.ts';
import { fetchNode, type ForeignNode } from './node.ts';
import { packLibrary } from './npm-package.ts';
import { provenance } from './provenance.ts';
import type { Source } from './source.ts';

/** What is released. */
export interface Release {
  readonly version: string;
  readonly source: Source;
  /** Host of a registry, and the path there, from which clusters will pull the images. */
  readonly registry: string;
  /** The folder that is to exist afterwards, and does not before. */
  readonly folder: string;
}

/** Makes all files of a release. The folder appears when it is complete. */
export async function makeRelease({ version, source, registry, folder }: Release, report: Report): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), 'release-'));
  const partial = `${folder}.partial`;
  try {
    await rm(partial, { recursive: true, force: true });
    await mkdir(partial, { recursive: true });
    const bundle = join(work, 'bundle');
    await step(report, 'operator, audit fan-out, hcp and hcp-import compiled', () => bundleOperator(bundle));
    const nodes = await step(report, 'Node and its libraries fetched', () => fetchNodes(work));
    const images = await step(report, 'images', () =>
      writeImages(partial, bundle, nodes, { manager: managerImageIn(registry), audit: auditImageIn(registry) }),
    );
    await step(report, 'installation, templates and Helm chart', async () => {
      const image = images.manager;
      await writeFiles(partial, renderInstallation(image, 'users'));
      const chart = join(work, providerChart.name);
      await writeArchive(join(partial, `${providerChart.name}-${version}.tgz`), chart, providerChartFiles(image));
    });
    await step(report, 'hcp and hcp-import', () => writePrograms(partial, bundle, join(work, 'program'), nodes));
    await step(report, 'library for npm', () => packLibrary(join(work, 'library'), partial));
    await writeFile(join(partial, 'bill-of-materials.cdx.json'), await billOfMaterials(source, Object.values(nodes)));
    await writeFile(join(partial, 'CHANGELOG.md'), changelog(version, source));
    await writeFile(join(partial, 'images.txt'), `${images.manager}\n${images.audit}\n`);
    await step(report, 'provenance and checksums', () => seal(version, source, partial));
    await rename(partial, folder);
  } finally {
    await rm(partial, { recursive: true, force: true });
    await rm(work, { recursive: true, force: true });
  }
}

type Nodes = Readonly<Record<Architecture, ForeignNode>>;

async function fetchNodes(work: string): Promise<Nodes> {
  const fetched = { amd64: join(work, 'amd64'), arm64: join(work, 'arm64') };
  for (const directory of Object.values(fetched)) await mkdir(directory);
  return { amd64: await fetchNode('amd64', fetched.amd64), arm64: await fetchNode('arm64', fetched.arm64) };
}

async function writePrograms(folder: string, bundle: string, work: string, nodes: Nodes): Promise<void> {
  const notices = await readFile(join(bundle, 'hcp.js.LEGAL.txt'), 'utf8');
  await writeFile(join(folder, 'hcp-notices.txt'), `${notices}\n${nodes.amd64.license}`);
  for (const name of commandLines) {
    await copyFile(join(bundle, `${name}.js`), join(folder, `${name}.mjs`));
    const blob = await prepareProgram(name, work);
    for (const architecture of architectures) {
      await writeProgram(join(folder, `${name}-linux-${architecture}`), nodes[architecture].program, blob);
    }
  }
}

/** Writes what the files are known by; the statement of their origin is itself one of them. */
async function seal(version: string, source: Source, folder: string): Promise<void> {
  const files = await fileChecksums(folder);
  const subjects = [...files].map(([name, sha256]) => ({ name, digest: { sha256 } }));
  const statement = 'provenance.intoto.json';
  await writeFile(join(folder, statement), provenance(version, source, subjects));
  const all = [...files, [statement, await fileDigest(join(folder, statement))]];
  await writeFile(join(folder, checksumsFile), all.map(([name, sha256]) => `${sha256}  ${name}\n`).join(''));
}
