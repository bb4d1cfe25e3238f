import type { PhaseResult } from './engine/run-phases.ts';
import { addOns } from './phases/workload/add-ons.ts';

/**
 * Whether what a phase renders is there, all of it. That of an add-on is although none of its pods runs: a node that is
 * ill must not keep anything from being removed.
 */
export function isApplied({ phase, isDone, update }: PhaseResult): boolean {
  return isDone || (addOns.some((addOn) => addOn === phase) && update.reason === 'WaitingForPods');
}
