import { defineConfig } from 'vitest/config';
import { filesOf } from './tools/run/files.ts';
import { FixedOrder } from './tools/run/order.ts';

/** Long enough to show in the message of a test, the only part of a failure in the summary, the actual value. */
const chaiConfig = { truncateThreshold: 600 };

const everywhere = { chaiConfig, setupFiles: ['test/tools/run/file-time.ts'] };

const pure = {
  ...everywhere,
  // Files share the modules of their worker: importing them for each file again is most of the time of pure tests.
  isolate: false,
  // by default vitest leaves one processor idle
  maxWorkers: '100%',
  // a guard against endless tests: explored models take seconds, and more on a busy machine
  testTimeout: 60_000,
  hookTimeout: 60_000,
  sequence: { groupOrder: 0 },
};

const onRealBinaries = {
  ...everywhere,
  // As pure ones: a process for each file would take 1.8 core-seconds more for it. Files start in the same order in every run
  // instead, and one that fails runs once more in a process of its own.
  isolate: false,
  globalSetup: ['test/tools/testbed/vitest-setup.ts'],
  // Far above the limits of the tests' own waits, which start again with each progress, and whose errors say what was awaited.
  testTimeout: 1_800_000,
  // a hook may compile two minors of Kubernetes
  hookTimeout: 2_700_000,
};

/**
 * Which files belong to a project: test/tools/run/files.ts; how a run uses the projects: test/RUN.md. Projects with different numbers of
 * workers need places of their own in the order of groups.
 */
export default defineConfig({
  test: {
    sequence: { sequencer: FixedOrder },
    projects: [
      { test: { name: 'unit', ...filesOf.unit, ...pure } },
      // what takes long, for `npm run test:full`
      { test: { name: 'full-unit', ...filesOf['full-unit'], ...pure, testTimeout: 600_000, hookTimeout: 600_000 } },
      {
        test: {
          name: 'testbed',
          ...filesOf.testbed,
          // the third begins when the project `host` has ended: test/tools/run/room.ts
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
          ...onRealBinaries,
        },
      },
      {
        test: {
          name: 'host',
          ...filesOf.host,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
          ...onRealBinaries,
        },
      },
      {
        test: {
          name: 'lent',
          ...filesOf.lent,
          fileParallelism: false,
          sequence: { groupOrder: 4 },
          ...onRealBinaries,
        },
      },
      {
        test: {
          name: 'soak',
          ...filesOf.soak,
          fileParallelism: false,
          sequence: { groupOrder: 3 },
          ...onRealBinaries,
        },
      },
    ],
  },
});
