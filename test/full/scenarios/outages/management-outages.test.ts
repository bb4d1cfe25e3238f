import { beforeAll, expect, it } from 'vitest';
import { expectRecoveries, toldOutages } from '../../../support/loop/management-outages.ts';
import type { MemoryCluster } from '../../../support/loop/memory-cluster.ts';
import { completeFleet } from '../../../support/loop/memory-fleet.ts';
import { smallestSpec } from '../../../support/loop/scenario.ts';

const count = 20;

let complete: MemoryCluster;
beforeAll(async () => {
  complete = await completeFleet(count, smallestSpec);
});

it.each(toldOutages)(
  'twenty control planes converge within 30 s after their API server was %s for up to five minutes, leader election: %s',
  async (outage, leaderElection) => {
    const results = await expectRecoveries(complete, outage, leaderElection);
    console.log(results.map((one) => `${one.outage} for ${one.seconds} s: ${one.afterMs / 1000} s`).join(', '));
    expect(results.length).toBeGreaterThanOrEqual(4);
  },
);
