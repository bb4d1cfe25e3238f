import { afterAll, beforeAll } from 'vitest';
import { isYielding } from './lane.ts';
import { ownProcessorSeconds } from './processor-time.ts';
import { beginFile, endFile } from './room.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** Processor time of the process that ran a test file and of the processes it started, in seconds. */
    processorSeconds?: number;
    /** Time until the processors had room for the file. */
    waitedSeconds?: number;
  }
}

let before = 0;
beforeAll(async ({}, file) => {
  if (isYielding(process.env)) file.meta.waitedSeconds = await beginFile();
  before = await ownProcessorSeconds();
});

// The first set-up hook is torn down last: after every hook of the file.
afterAll(async ({}, file) => {
  file.meta.processorSeconds = (await ownProcessorSeconds()) - before;
  if (isYielding(process.env)) await endFile();
});
