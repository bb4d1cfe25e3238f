import { defineConfig } from 'vitest/config';
import { LaneSequencer } from './lanes.ts';

/** Long enough to show in the message of a test, all that is left of it in the verdict, what was there instead. */
const chaiConfig = { truncateThreshold: 600 };

const onRealBinaries = {
  chaiConfig,
  globalSetup: ['test/testbed/vitest-setup.ts'],
  fileParallelism: false,
  // above the limits of what tests wait for, which say what that was
  testTimeout: 240_000,
  hookTimeout: 300_000,
};

/**
 * Three layers. `unit` is pure and needs nothing. `testbed` runs against real binaries: its global set-up builds or finds
 * them and brings a management cluster up; its files run one after the other because they share that cluster. `--shard`
 * divides them into lanes, each with a testbed of its own. `soak` is the same for what has to wait for a quarter of an
 * hour: `npm run test:soak`.
 */
export default defineConfig({
  test: {
    sequence: { sequencer: LaneSequencer },
    projects: [
      {
        test: {
          name: 'unit',
          chaiConfig,
          include: ['test/**/*.test.ts'],
          exclude: ['test/testbed/**', 'test/cluster/**', 'test/system/**', 'test/soak/**'],
          // a guard against what never ends: explored models take seconds, and more beside other work
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'testbed',
          include: ['test/testbed/**/*.test.ts', 'test/cluster/**/*.test.ts', 'test/system/**/*.test.ts'],
          ...onRealBinaries,
        },
      },
      { test: { name: 'soak', include: ['test/soak/**/*.test.ts'], ...onRealBinaries } },
    ],
  },
});
