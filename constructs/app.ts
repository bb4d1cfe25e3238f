import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { renderDistribution, type SampleFile } from './distribution.ts';

/** Synth: writes `dist/` from the constructs and the sample clusters, without any network. */
const root = join(import.meta.dirname, '..');

/** The sample clusters, in the order of their names. */
async function readSamples(): Promise<SampleFile[]> {
  const directory = join(root, 'test/clusters');
  const files = (await readdir(directory)).filter((file) => file.endsWith('.yaml')).sort();
  return Promise.all(
    files.map(async (file) => ({
      name: file.replace(/\.yaml$/, ''),
      content: await readFile(join(directory, file), 'utf8'),
    })),
  );
}

// The cdk8s command names the directory of its configuration.
const output = join(root, process.env.CDK8S_OUTDIR ?? 'dist');

// A sample that was renamed must not leave its old manifest behind.
await rm(join(output, 'samples'), { recursive: true, force: true });
for (const { path, content } of renderDistribution(await readSamples())) {
  const file = join(output, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
}
