import { defineConfig } from 'vitest/config';
import { LongestFirst } from './run/order.ts';

/** Long enough to show in the message of a test, all that is left of it in the verdict, what was there instead. */
const chaiConfig = { truncateThreshold: 600 };

/** Files share the modules of their worker: importing them anew for each file is most of the time of pure tests. */
const everywhere = { chaiConfig, setupFiles: ['test/run/file-time.ts'], isolate: false };

const onRealBinaries = {
  ...everywhere,
  globalSetup: ['test/testbed/vitest-setup.ts'],
  // above the limits of what tests wait for, which say what that was
  testTimeout: 240_000,
  hookTimeout: 300_000,
};

/** These look at everything on the host, or want a testbed to themselves: for operators of all namespaces, or to take kinds away. */
const wholeHost = [
  'test/testbed/**/*.test.ts',
  'test/system/**/*.test.ts',
  'test/cluster/exposure/gateway.test.ts',
  'test/cluster/issuer/issuer.test.ts',
];

/**
 * Four layers. `unit` is pure and needs nothing. The others run against real binaries: their global set-up builds or finds
 * them and brings a management cluster up. The files of `testbed` share one and keep to namespaces of their own, so that
 * some of them run at a time; those of `host` run one after the other; `soak` is for what has to wait for a quarter of an
 * hour: `npm run test:soak`. Projects with another number of workers need a place in the order of their own.
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
          // a guard against what never ends: explored models take seconds, and more beside other work
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
