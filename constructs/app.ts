import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { renderDistribution, renderUserFiles } from './distribution.ts';
import { readSampleFiles } from './sample-files.ts';

// Synth: writes `dist/` from the constructs and the sample clusters, or with HCP_MANIFESTS=DIRECTORY what the files of users
// there become. It needs no network. The cdk8s command sets the directory that its configuration or its option --output names.
async function synthesize({ CDK8S_OUTDIR = 'dist', HCP_MANIFESTS: manifests }: NodeJS.ProcessEnv): Promise<void> {
  const output = resolve(import.meta.dirname, '..', CDK8S_OUTDIR);
  const given = await readSampleFiles(manifests);
  const files = manifests === undefined ? renderDistribution(given) : renderUserFiles(given);
  if (manifests === undefined) {
    // Removes what was renamed or deleted since.
    for (const directory of ['chart', 'samples', 'stacks'])
      await rm(join(output, directory), { recursive: true, force: true });
  }
  for (const { path, content } of files) {
    const file = join(output, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  }
}

synthesize(process.env).catch((error: unknown) => {
  // a file of a user that is invalid needs no stack; one of this repository does
  const isOfUser = process.env['HCP_MANIFESTS'] !== undefined && error instanceof Error;
  console.error(isOfUser ? error.message : error);
  process.exitCode = 1;
});
