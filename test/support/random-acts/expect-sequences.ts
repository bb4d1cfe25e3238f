import { expect } from 'vitest';
import type { MemoryCluster } from '../loop/memory-cluster.ts';
import { describeStep, sequenceOf, shortestFailure } from './sequence.ts';

/** How many control planes one management cluster has. */
export const controlPlanes = 10;

/** Runs only the sequence of this seed, when a failure has named it. */
const onlySeed = 'RANDOM_ACTS_SEED';

/**
 * Runs a sequence for each seed. @throws with the seed and the shortest beginning that fails
 * @param complete control planes that run
 */
export async function expectSequences(
  complete: MemoryCluster,
  { first, count }: { readonly first: number; readonly count: number },
): Promise<void> {
  const only = process.env[onlySeed];
  const seeds = only === undefined ? Array.from({ length: count }, (_, index) => first + index) : [Number(only)];
  for (const seed of seeds) {
    const steps = sequenceOf({ seed, acts: 6, clusters: complete.all.length, chosen: 2 });
    const failure = await shortestFailure(complete, steps);
    if (!failure) continue;
    const lines = failure.steps.map(describeStep).join('\n  ');
    const again = `seed ${seed}; ${onlySeed}=${seed} runs this sequence alone`;
    expect.fail(`${again}:\n  ${lines}\n${String(failure.error)}`);
  }
}
