/**
 * `npm run faults [-- DIRECTORY FILE]`: writes the faults that the tests have recorded as a table into the README, or those
 * of another directory into another file.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { faultsDirectory, recordedFaults, renderFaultTable, withFaultTable } from './support/fault-table.ts';
import { readme } from './support/readme-block.ts';

const [directory = faultsDirectory, file = readme] = process.argv.slice(2);
const faults = await recordedFaults(directory);
if (faults.length === 0) throw new Error(`no fault is recorded in ${directory}: run the tests that record them`);
await writeFile(file, withFaultTable(await readFile(file, 'utf8'), renderFaultTable(faults)));
console.log(`${faults.length} faults in ${file}`);
