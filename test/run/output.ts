import { join } from 'node:path';

/** Everything that a run of all tests says, until the next one; ignored by git. */
export const output = join(import.meta.dirname, '../../.test-output');

/** How long each file on real binaries took in the last run, in the form of durations.json. */
export const measuredFile = join(output, 'durations.json');
