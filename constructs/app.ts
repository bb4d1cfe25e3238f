import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { renderDistribution, renderUserFiles } from './distribution.ts';
import { readSampleFiles } from './sample-files.ts';

// Synth: writes `dist/` from the constructs and the sample clusters, or with HCP_MANIFESTS=DIRECTORY what the files of users
// there become. It needs no network. The cdk8s command sets the directory that its configuration or its option --output names.
const output = resolve(import.meta.dirname, '..', process.env.CDK8S_OUTDIR ?? 'dist');

const { HCP_MANIFESTS: manifests } = process.env;
if (manifests === undefined) {
  // Removes what was renamed or deleted since.
  for (const directory of ['samples', 'stacks']) await rm(join(output, directory), { recursive: true, force: true });
}
const given = await readSampleFiles(manifests);
const files = manifests === undefined ? renderDistribution(given) : renderUserFiles(given);
for (const { path, content } of files) {
  const file = join(output, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
}
