import { afterAll, beforeAll } from 'vitest';
import { ownProcessorSeconds } from './processor-time.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** Processor time of the process that ran a test file and of the processes it started, in seconds. */
    processorSeconds?: number;
  }
}

let before = 0;
beforeAll(async () => {
  before = await ownProcessorSeconds();
});

// The first set-up hook is torn down last: after every hook of the file.
afterAll(async ({}, file) => {
  file.meta.processorSeconds = (await ownProcessorSeconds()) - before;
});
