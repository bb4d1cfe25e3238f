import type { ConditionReason } from '../../../constructs/api/conditions.ts';
import { degraded, type Outcome, wait } from '../../engine/outcome.ts';
import type { RestoreContext } from './restore-context.ts';
import { isBegun, type Restoring } from './restoring.ts';

/** Why a restore does not continue now. */
export interface Blocker {
  readonly reason: ConditionReason;
  /** One sentence: what is wrong or in progress, and what to do. */
  readonly message: string;
}

/**
 * Reports why a restore does not continue. An existing control plane continues to run as long as its data was not
 * touched. A new control plane must not start empty instead.
 * @param afterMs when to reconcile again; unset if an event triggers it
 */
export function reportBlocker(
  scope: RestoreContext,
  { request, record }: Restoring,
  { reason, message }: Blocker,
  afterMs?: number,
): Outcome {
  const mayContinue = !isBegun(request, record) && hasData(scope);
  if (!mayContinue) return wait(reason, message, afterMs === undefined ? {} : { afterMs });
  const requeueAt = afterMs === undefined ? undefined : new Date(scope.now.getTime() + afterMs);
  return degraded(reason, message, { requeueAt });
}

/** Whether there is an etcd that can continue. If its restore has begun and was replaced by another one, it cannot. */
function hasData({ runState }: RestoreContext): boolean {
  return runState.because !== 'restore' && runState.etcd.isWanted;
}
