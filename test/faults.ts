/** `npx tsx test/faults.ts`: writes the faults that the tests have recorded as a table into the README. */
import { readFile, writeFile } from 'node:fs/promises';
import { faultsDirectory, recordedFaults, renderFaultTable, withFaultTable } from './support/fault-table.ts';
import { readme } from './support/readme-block.ts';

const faults = await recordedFaults();
if (faults.length === 0) throw new Error(`no fault is recorded in ${faultsDirectory}: run the tests that record them`);
await writeFile(readme, withFaultTable(await readFile(readme, 'utf8'), renderFaultTable(faults)));
console.log(`${faults.length} faults in ${readme}`);
