import { beforeAll, expect, it } from 'vitest';
import { completeFleet } from '../../../support/loop/memory-fleet.ts';
import type { MemoryCluster } from '../../../support/loop/memory-cluster.ts';
import { smallestSpec } from '../../../support/loop/scenario.ts';
import { controlPlanes, expectSequences } from '../../../support/random-acts/expect-sequences.ts';

let complete: MemoryCluster;
beforeAll(async () => {
  complete = await completeFleet(controlPlanes, smallestSpec);
});

it('after what users do by mistake no data are lost, conditions name it, and all is Ready once it is undone', async () => {
  await expect(expectSequences(complete, { first: 25, count: 175 })).resolves.toBeUndefined();
}, 600_000);
