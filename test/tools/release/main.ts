/**
 * `npm run release -- VERSION [--registry NAME] [--directory DIRECTORY]`: makes every file of a release, and publishes none.
 * The directory becomes a repository that clusterctl reads from a disk.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { clusterctlConfiguration, clusterctlName, releaseFolder } from '../../../constructs/provider/repository.ts';
import { messageOf } from '../../../reconciler/kube/error-message.ts';
import { checksumsFile } from './checksums.ts';
import { whyUnproved } from './proof.ts';
import { makeRelease } from './release.ts';
import { readSource } from './source.ts';

const usage = 'npm run release -- VERSION [--registry HOST/PATH] [--directory DIRECTORY]';

async function main(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      registry: { type: 'string', default: 'localhost' },
      directory: { type: 'string', default: 'build/releases' },
    },
  });
  const [version, ...others] = positionals;
  if (version === undefined || others.length > 0) throw new Error(usage);
  const directory = resolve(process.env.INIT_CWD ?? '.', values.directory);
  const folder = join(directory, releaseFolder);
  const sums = join(folder, checksumsFile);
  const before = await readFile(sums, 'utf8').catch(() => undefined);
  if (before !== undefined) {
    throw new Error(`${folder} is there already, and clusters may run it: raise the version, or remove the folder`);
  }
  const source = await readSource(version);
  const unproved = whyUnproved();
  if (unproved !== undefined) throw new Error(unproved);
  await makeRelease({ version, source, registry: values.registry, folder }, (line) => console.error(line));
  const { path, content } = clusterctlConfiguration(directory);
  await writeFile(join(directory, path), content);
  const files = (await readFile(sums, 'utf8')).trim().split('\n');
  console.log(`${folder}: ${files.length} files, whose checksums are in ${checksumsFile}`);
  console.log(`clusterctl init --config ${join(directory, path)} --control-plane ${clusterctlName}`);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(`release: ${messageOf(error)}`);
  process.exitCode = 1;
});
