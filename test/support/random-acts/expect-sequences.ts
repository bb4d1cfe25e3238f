import { expect } from 'vitest';
import type { MemoryCluster } from '../loop/memory-cluster.ts';
import { describeStep, sequenceOf, shortestFailure } from './sequence.ts';

/** How many control planes one management cluster has. */
export const controlPlanes = 10;

/** Runs only the sequence of this seed, when a failure has named it. */
const onlySeed = 'RANDOM_ACTS_SEED';

/** So many sequences of a long run are a line of its output. */
const progressEvery = 500;

/** A run that has found so many shows no others. */
const enoughFailures = 5;

/**
 * Runs a sequence for each seed. @throws with the seeds and the shortest beginnings that fail
 * @param complete control planes that run
 */
export async function expectSequences(
  complete: MemoryCluster,
  { first, count }: { readonly first: number; readonly count: number },
): Promise<void> {
  const only = process.env[onlySeed];
  const seeds = only === undefined ? Array.from({ length: count }, (_, index) => first + index) : [Number(only)];
  const failures: string[] = [];
  for (const [done, seed] of seeds.entries()) {
    if (done > 0 && done % progressEvery === 0) console.log(`${done} of ${seeds.length} sequences`);
    const steps = sequenceOf({ seed, acts: 6, clusters: complete.all.length, chosen: 2 });
    const failure = await shortestFailure(complete, steps);
    if (!failure) continue;
    const lines = failure.steps.map(describeStep).join('\n  ');
    failures.push(`seed ${seed}; ${onlySeed}=${seed} runs this sequence alone:\n  ${lines}\n${String(failure.error)}`);
    if (failures.length === enoughFailures) break;
  }
  if (failures.length > 0) expect.fail(failures.join('\n\n'));
}
