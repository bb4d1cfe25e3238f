import { beforeAll, expect, it } from 'vitest';
import { recoveries } from '../../support/loop/management-outages.ts';
import type { MemoryCluster } from '../../support/loop/memory-cluster.ts';
import { completeFleet } from '../../support/loop/memory-fleet.ts';
import { smallestSpec } from '../../support/loop/scenario.ts';

const count = 20;

let complete: MemoryCluster;
beforeAll(async () => {
  complete = await completeFleet(count, smallestSpec);
});

const seconds = [1, 10, 60, 300];

it.each([
  ['killed', false],
  ['killed', true],
  ['lost', false],
  ['lost', true],
] as const)(
  'twenty control planes converge within 30 s after their API server was %s for up to five minutes, leader election: %s',
  async (outage, leaderElection) => {
    const outages = seconds.map((each) => [outage, each] as const);
    const results = await recoveries(complete, outages, { leaderElection, limitMs: 90_000 });
    console.log(results.map((one) => `${one.outage} for ${one.seconds} s: ${one.afterMs / 1000} s`).join(', '));
    expect(results.map(({ converged }) => converged)).toEqual(outages.map(() => count));
    expect(results.filter(({ afterMs }) => afterMs > 30_000)).toEqual([]);
  },
);
