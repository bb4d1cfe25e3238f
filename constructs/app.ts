import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { renderDistribution } from './distribution.ts';
import { readSampleFiles } from './sample-files.ts';

// Synth: writes `dist/` from the constructs and the sample clusters. It needs no network. The cdk8s command sets the
// directory that its configuration names.
const output = join(import.meta.dirname, '..', process.env.CDK8S_OUTDIR ?? 'dist');

// Removes what was renamed or deleted since.
for (const directory of ['samples', 'stacks']) await rm(join(output, directory), { recursive: true, force: true });
for (const { path, content } of renderDistribution(await readSampleFiles())) {
  const file = join(output, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
}
