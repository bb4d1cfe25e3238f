import { beforeAll, expect, it } from 'vitest';
import { expectRecoveries, recoveries, toldOutages } from '../../support/loop/management-outages.ts';
import type { MemoryCluster } from '../../support/loop/memory-cluster.ts';
import { completeFleet } from '../../support/loop/memory-fleet.ts';
import { smallestSpec } from '../../support/loop/scenario.ts';

const count = 4;

let complete: MemoryCluster;
beforeAll(async () => {
  complete = await completeFleet(count, smallestSpec);
});

it.each(toldOutages)(
  'a fleet converges within 30 s after its API server was %s for up to five minutes, leader election: %s',
  async (outage, leaderElection) => {
    await expect(expectRecoveries(complete, outage, leaderElection)).resolves.toBeDefined();
  },
);

it('a fleet converges within 150 s after its API server went away if nothing tells its watches that their connection is gone', async () => {
  const outages = [
    ['deaf', 60],
    ['deaf', 300],
  ] as const;
  const [one, five] = await recoveries(complete, outages, { leaderElection: false, limitMs: 600_000 });
  expect(one).toMatchObject({ converged: count });
  // The silence began 60 s before.
  expect(one?.afterMs).toBeGreaterThan(60_000);
  expect(one?.afterMs).toBeLessThanOrEqual(90_000 + 30_000);
  expect(five).toMatchObject({ converged: count });
  expect(five?.afterMs).toBeLessThanOrEqual(30_000);
});
