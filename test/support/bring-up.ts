import { type PhaseResult, runPhases } from '../../reconciler/graph.ts';
import { phases } from '../../reconciler/reconcile.ts';
import { settle } from './management-controllers.ts';
import type { MemoryWorld } from './memory-world.ts';
import { type ScopeChanges, scopeOf } from './scope.ts';

/** More passes than a control plane ever needs. */
const passesLimit = 20;

/** One pass over all phases, after which Kubernetes does its part. */
export async function pass(world: MemoryWorld, changes: ScopeChanges = {}): Promise<PhaseResult[]> {
  const results = await runPhases(phases, scopeOf(world, changes));
  settle(world);
  return results;
}

/** Passes until every phase is done. @throws with what is not when that does not come. */
export async function bringUp(world: MemoryWorld, changes: ScopeChanges = {}): Promise<PhaseResult[]> {
  for (let count = 0; count < passesLimit; count++) {
    const results = await pass(world, changes);
    if (results.every(({ isDone }) => isDone)) return results;
  }
  const left = (await pass(world, changes)).filter(({ isDone }) => !isDone);
  throw new Error(left.map(({ phase, verdict }) => `${phase.condition}: ${verdict.message}`).join('\n'));
}
