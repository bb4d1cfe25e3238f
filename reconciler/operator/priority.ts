import type { HostedControlPlaneObject } from '../clusters/management/hosted-control-plane-object.ts';
import type { Priority } from '../kube/queue.ts';

/** Why a HostedControlPlane is reconciled. */
export type Cause =
  /** Nothing has happened. */
  | 'resync'
  /** It was there when the operator started. */
  | 'listed'
  /** Something that belongs to it has changed. */
  | 'event'
  /** Another client has changed the object itself. */
  | 'request';

const priorities: Readonly<Record<Cause, Priority>> = { resync: 0, listed: 1, event: 2, request: 3 };

/** Those that are being brought up come first, the most advanced of them before the others. */
const bringUp: Priority = 4;

/** For so long an object that is not Ready counts as being brought up. */
const bringUpMs = 60 * 60_000;

/**
 * The priority of a reconcile. Of a thousand control planes that were ordered at once, a queue in order of arrival gives all their first
 * step before any gets its second, and all are ready at the end.
 * @param now milliseconds since the epoch
 */
export function priorityOf(cause: Cause, object: HostedControlPlaneObject | undefined, now: number): Priority {
  const { conditions = [] } = object?.status ?? {};
  const { creationTimestamp = '', deletionTimestamp } = object?.metadata ?? {};
  // Without a status it has not begun.
  if (conditions.length === 0 || deletionTimestamp !== undefined) return priorities[cause];
  const isReady = conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
  if (isReady || !(now - Date.parse(creationTimestamp) < bringUpMs)) return priorities[cause];
  return bringUp + conditions.filter(({ status }) => status === 'True').length / conditions.length;
}
