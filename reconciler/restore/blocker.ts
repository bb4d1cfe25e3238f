import type { ConditionReason } from '../../constructs/api/conditions.ts';
import { degraded, type Outcome, wait } from '../engine/outcome.ts';
import type { RestoreContext } from './context.ts';
import { observeRestore } from './observe.ts';
import { isBegun, type Restoring } from './restoring.ts';

/** Why a restore does not go on now. */
export interface Blocker {
  readonly reason: ConditionReason;
  /** One sentence: what is wrong or under way, and what to do. */
  readonly message: string;
}

/**
 * Tells why a restore does not go on. What is there goes on as long as nothing was touched; a new control plane must not
 * start empty instead.
 * @param afterMs look again after this long; missing where an event will tell
 */
export function reportBlocker(
  scope: RestoreContext,
  { request, record }: Restoring,
  { reason, message }: Blocker,
  afterMs?: number,
): Outcome {
  const isFree = !isBegun(request, record) && hasData(scope);
  if (!isFree) return wait(reason, message, afterMs === undefined ? {} : { afterMs });
  const requeueAt = afterMs === undefined ? undefined : new Date(scope.now.getTime() + afterMs);
  return degraded(reason, message, {}, { requeueAt });
}

/** Whether there is an etcd that could go on. One whose restore has begun and was replaced by another cannot. */
function hasData({ hostedControlPlane: { status }, cluster, reader }: RestoreContext): boolean {
  const interrupted = status?.etcd?.restore && status.etcd.restore.completionTime === undefined;
  return !interrupted && observeRestore({ cluster, members: cluster.spec.etcd.replicas, reader }).etcd.isWanted;
}
