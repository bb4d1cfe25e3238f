/**
 * `npm run faults [-- DIRECTORY FILE]`: writes the faults that the tests have recorded into the table of test/FAULTS.md, or
 * those of another directory into another file. Rows that no test has recorded since stay.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { faultsDirectory, faultsPage, recordedFaults, withFaults } from '../support/fault-table.ts';
import { repository } from '../support/pages.ts';

const [directory = faultsDirectory, file = join(repository, faultsPage)] = process.argv.slice(2);
const faults = await recordedFaults(directory);
if (faults.length === 0) throw new Error(`no fault is recorded in ${directory}: run the tests that record them`);
await writeFile(file, withFaults(await readFile(file, 'utf8'), faults));
console.log(`${faults.length} faults in ${file}`);
