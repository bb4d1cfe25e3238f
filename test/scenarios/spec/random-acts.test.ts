import { beforeAll, expect, it } from 'vitest';
import { completeFleet } from '../../support/loop/memory-fleet.ts';
import type { MemoryCluster } from '../../support/loop/memory-cluster.ts';
import { smallestSpec } from '../../support/loop/scenario.ts';
import { controlPlanes, expectSequences } from '../../support/random-acts/expect-sequences.ts';

let complete: MemoryCluster;
beforeAll(async () => {
  complete = await completeFleet(controlPlanes, smallestSpec);
});

it.each([0, 5, 10, 15, 20])(
  'after what users do by mistake no data are lost, conditions name it, and all is Ready once it is undone: five seeds from %s',
  async (first) => {
    await expect(expectSequences(complete, { first, count: 5 })).resolves.toBeUndefined();
  },
);
