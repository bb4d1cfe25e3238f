/**
 * `node test/seeds/compare.ts DIRECTORY`: compares what the seeds in a directory let their readers type with the
 * list of this repository, and prints what the list lacks, or has without need. Exit code 1 if there is any.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { partsOf } from '../support/pages.ts';
import { seeds } from './table.ts';

const [directory] = process.argv.slice(2);
if (directory === undefined) throw new Error('name the directory of the seeds: compare.ts DIRECTORY');
const files = await readdir(directory);
const differences: string[] = [];

for (const [number, listed] of Object.entries(seeds)) {
  const file = files.find((name) => name.startsWith(number));
  if (file === undefined) throw new Error(`${directory} has no document ${number}`);
  const { blocks } = partsOf(file, await readFile(join(directory, file), 'utf8'));
  const shell = blocks.filter(({ language }) => language === 'bash').map(({ content }) => content);
  const inShell = shell.flatMap((content) => [...content.matchAll(/<<EOF/g)]).length;
  const documents = blocks.filter(({ language }) => language === 'yaml').length + inShell;
  const written = new Set(shell.flatMap(commandsIn));
  const known = new Set(listed.flatMap((typed) => ('command' in typed ? [typed.command] : [])));
  differences.push(
    ...[...written].filter((command) => !known.has(command)).map((command) => `${number} lacks: ${command}`),
    ...[...known].filter((command) => !written.has(command)).map((command) => `${number} does not have: ${command}`),
  );
  const manifests = listed.filter((typed) => 'yaml' in typed).length;
  if (manifests !== documents) differences.push(`${number} has ${documents} blocks of YAML, the list ${manifests}`);
}
for (const difference of differences) console.log(difference);
if (differences.length > 0) process.exitCode = 1;

/** The commands of a block, each on one line, without comments and manifests. */
function commandsIn(content: string): string[] {
  const lines = content
    .replaceAll(/^cat <<EOF.*?^EOF$/gms, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n');
  return lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
}
