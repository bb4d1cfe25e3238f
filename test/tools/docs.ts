/**
 * `npm run docs [-- DIRECTORY]`: writes what the sources say already into the pages of the repository, or into copies of
 * them below another directory: the help texts of hcp, conditions, phases, certificates, and what kubectl prints.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generated, generatedParts } from '../support/generated-pages.ts';
import { repository } from '../support/pages.ts';

const [directory = repository] = process.argv.slice(2);
for (const page of Object.keys(generatedParts)) {
  const file = join(directory, page);
  await writeFile(file, await generated(page, await readFile(file, 'utf8')));
  console.log(file);
}
