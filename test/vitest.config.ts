import { defineConfig } from 'vitest/config';
import { LongestFirst } from './run/order.ts';

/** Long enough to show in the message of a test, the only part of a failure in the summary, the actual value. */
const chaiConfig = { truncateThreshold: 600 };

/** Files share the modules of their worker: importing them for each file again is most of the time of pure tests. */
const everywhere = { chaiConfig, setupFiles: ['test/run/file-time.ts'], isolate: false };

const onRealBinaries = {
  ...everywhere,
  globalSetup: ['test/testbed/vitest-setup.ts'],
  // Far above the limits of the tests' own waits, which start again with each progress, and whose errors say what was awaited.
  testTimeout: 1_800_000,
  // a hook may compile two minors of Kubernetes
  hookTimeout: 2_700_000,
};

/** These check everything on the host, or need a testbed of their own: for operators of all namespaces, or to remove kinds. */
const wholeHost = [
  'test/testbed/**/*.test.ts',
  'test/system/**/*.test.ts',
  'test/cluster/exposure/gateway.test.ts',
  'test/cluster/issuer/issuer.test.ts',
];

/**
 * Four layers. `unit` is pure and needs nothing. The others run against real binaries: their global set-up builds or finds
 * them and brings a management cluster up. The files of `testbed` share one and use separate namespaces, so that
 * some of them run at a time; those of `host` run one after the other; `soak` is for tests that wait for up to a quarter of an
 * hour: `npm run test:soak`. Projects with another number of workers need their own place in the order.
 */
export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'unit',
          ...everywhere,
          include: ['test/**/*.test.ts'],
          exclude: ['test/testbed/**', 'test/cluster/**', 'test/system/**', 'test/soak/**'],
          // by default vitest leaves one processor idle
          maxWorkers: '100%',
          // a guard against endless tests: explored models take seconds, and more on a busy machine
          testTimeout: 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'testbed',
          include: ['test/cluster/**/*.test.ts'],
          exclude: wholeHost,
          // the third begins when the project `host` has ended: test/run/room.ts
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
          ...onRealBinaries,
        },
      },
      {
        test: {
          name: 'host',
          include: wholeHost,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
          ...onRealBinaries,
        },
      },
      {
        test: {
          name: 'soak',
          include: ['test/soak/**/*.test.ts'],
          fileParallelism: false,
          sequence: { groupOrder: 3 },
          ...onRealBinaries,
        },
      },
    ],
  },
});
