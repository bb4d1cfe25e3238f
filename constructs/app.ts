import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { renderDistribution } from './distribution.ts';
import { readSampleFiles } from './sample-files.ts';
import { renderUserFolder } from './user-manifests.ts';

// Synth: writes `dist/` from the constructs and the sample clusters, or with HCP_MANIFESTS=DIRECTORY what the files of users
// there become. It needs no network. The cdk8s command sets the directory that its configuration or its option --output names.
const output = resolve(import.meta.dirname, '..', process.env.CDK8S_OUTDIR ?? 'dist');

const { HCP_MANIFESTS: manifests } = process.env;
if (manifests === undefined) {
  // Removes what was renamed or deleted since.
  for (const directory of ['samples', 'stacks']) await rm(join(output, directory), { recursive: true, force: true });
}
const files = manifests === undefined ? renderDistribution(await readSampleFiles()) : await renderUserFolder(manifests);
for (const { path, content } of files) {
  const file = join(output, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
}
