import { planStop, type Running, type StopDecision } from './plan-stop.ts';
import type { MoveRecord } from './move-record.ts';

/** The observed state of a move. */
export interface MoveInput extends Running {
  /** Whether a user asks for it. */
  readonly isRequested: boolean;
  /** Uid of the HostedControlPlane. */
  readonly uid: string;
  /** What the object says of its data; undefined before a backup holds all of them. */
  readonly record: MoveRecord | undefined;
  /** Whether the volumes hold the data of the record, and API servers may write to them. */
  readonly isRestored: boolean;
  /** Whether an annotation stops `clusterctl move`. */
  readonly isBlocked: boolean;
  /** Uid of the object that the bucket names as the owner of the data in the record; undefined until this process has asked. */
  readonly claimedBy: string | undefined;
  /** Whether the spec names a bucket. */
  readonly hasStore: boolean;
  /** Whether API servers have ever run. */
  readonly hasServed: boolean;
  /** Whether API servers of another version than the spec's run. */
  readonly isUpgrading: boolean;
  /** Whether the spec asks for hibernation, which leaves no member of etcd for a backup. */
  readonly isHibernated: boolean;
  /** The newest backup, if it was taken after the API servers had stopped. */
  readonly backup: string | undefined;
  /** The newest backup that was verified. */
  readonly verified: string | undefined;
}

/** Why a move is not prepared. */
export type MoveRefusal = 'noStore' | 'hibernated' | 'neverServed' | 'upgrading';

/** The next step. The observed state shows each step, so that the next process continues after a process was killed. */
export type MoveDecision =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'refuse'; readonly because: MoveRefusal }
  | Extract<StopDecision, { readonly kind: 'stopServers' | 'awaitBackup' }>
  | { readonly kind: 'awaitVerification'; readonly backup: string }
  /** Name the backup on the object. From then on nothing may be written to etcd. */
  | { readonly kind: 'record'; readonly backup: string }
  /** Let `clusterctl move` go on. */
  | { readonly kind: 'unblock'; readonly backup: string }
  | { readonly kind: 'prepared'; readonly backup: string }
  /** The request was withdrawn: claim the data, because the object of another management cluster may have them. */
  | { readonly kind: 'claim'; readonly backup: string }
  /** That object has them. API servers of this one stay stopped. */
  | { readonly kind: 'movedAway'; readonly backup: string; readonly to: string }
  /** The data are claimed for this object, or the moved object has restored them: API servers may write. */
  | { readonly kind: 'forget' };

/**
 * The next step of a move. It runs after the restore: an object that a move has created has its data here, and the request that came
 * with it is answered.
 */
export function planMove(observed: MoveInput): MoveDecision {
  const { isRequested, uid, record, backup, verified } = observed;
  if (record !== undefined && record.uid !== uid) return { kind: observed.isRestored ? 'forget' : 'nothing' };
  if (!isRequested) return record === undefined ? { kind: 'nothing' } : takeBack(record, observed);
  const because = refusalOf(observed);
  if (because !== undefined) return { kind: 'refuse', because };
  const step = planStop({ ...observed, level: 'ServersStopped', awaitsBackup: false });
  if (step.kind === 'stopServers') return step;
  if (record !== undefined) return { kind: observed.isBlocked ? 'unblock' : 'prepared', backup: record.backup };
  if (backup === undefined) return { kind: 'awaitBackup' };
  return verified === backup ? { kind: 'record', backup } : { kind: 'awaitVerification', backup };
}

/** Two objects may have the data until the bucket names one of them. */
function takeBack({ backup }: MoveRecord, { claimedBy, uid }: MoveInput): MoveDecision {
  if (claimedBy === undefined) return { kind: 'claim', backup };
  return claimedBy === uid ? { kind: 'forget' } : { kind: 'movedAway', backup, to: claimedBy };
}

/** Before anything has stopped. */
function refusalOf({
  hasStore,
  isHibernated,
  record,
  hasServed,
  isUpgrading,
  servers,
}: MoveInput): MoveRefusal | undefined {
  if (!hasStore) return 'noStore';
  if (isHibernated && record === undefined) return 'hibernated';
  if (!hasServed) return 'neverServed';
  return isUpgrading && servers.wanted.length > 0 ? 'upgrading' : undefined;
}
