import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { commandLine, type CommandLineName, repository } from '../testbed/operator-bundle.ts';
import { run } from '../testbed/run.ts';

/** What marks the place in Node's program, of https://nodejs.org/docs/latest-v24.x/api/single-executable-applications.html. */
const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

const postject = join(repository, 'node_modules/.bin/postject');

/** Compiles one of the programs that users run into what Node embeds in a copy of itself, for every processor. Returns the path of the blob. */
export async function prepareProgram(name: CommandLineName, directory: string): Promise<string> {
  await mkdir(directory, { recursive: true });
  // By its name alone, because the blob contains what Node is told: the same commit gives the same bytes.
  const [script, blob] = [`${name}.cjs`, `${name}.blob`];
  // A program that embeds its script runs only CommonJS.
  await build({ ...commandLine(name), format: 'cjs', outfile: join(directory, script) });
  // Neither a snapshot nor a code cache: they would be of this machine's processor.
  const configuration = { main: script, output: blob, disableExperimentalSEAWarning: true };
  await writeFile(join(directory, 'sea.json'), JSON.stringify(configuration));
  await run([process.execPath, '--experimental-sea-config', 'sea.json'], { cwd: directory });
  return join(directory, blob);
}

/** Writes a program that needs no Node: a copy of Node for a processor, with one of ours inside. */
export async function writeProgram(path: string, node: string, blob: string): Promise<void> {
  await copyFile(node, path);
  await run([postject, path, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', fuse]);
  await chmod(path, 0o755);
}
