import { join } from 'node:path';

/** The output of a run of all tests, until the next one; ignored by git. */
export const output = join(import.meta.dirname, '../../../.test-output');

/** The duration of each file on real binaries in the last run, in the form of durations.json. */
export const measuredFile = join(output, 'durations.json');

/** What the last run cost, as a row of runs.json. */
export const costFile = join(output, 'cost.json');
