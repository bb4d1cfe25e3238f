import { afterAll, beforeAll } from 'vitest';
import { roomFor } from './lane.ts';
import { ownProcessorSeconds } from './processor-time.ts';
import { beginFile, countProcess, endFile } from './room.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** Processor time of the process that ran a test file and of the processes it started, in seconds. */
    processorSeconds?: number;
    /** Time until the processors had room for the file. */
    waitedSeconds?: number;
  }
}

const room = roomFor(process.env);
let before = 0;
beforeAll(async ({}, file) => {
  if (room === 'waits') file.meta.waitedSeconds = await beginFile();
  if (room === 'counts') await countProcess();
  before = await ownProcessorSeconds();
});

// The first set-up hook is torn down last: after every hook of the file.
afterAll(async ({}, file) => {
  file.meta.processorSeconds = (await ownProcessorSeconds()) - before;
  if (room === 'waits') await endFile();
});
