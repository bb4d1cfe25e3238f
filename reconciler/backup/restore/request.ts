import { createHash } from 'node:crypto';
import type { Etcd } from '../../../constructs/api/etcd-spec.ts';
import { parseBackupId, type BackupOwner } from '../../../constructs/cluster/backup-names.ts';
import { type Choice, choiceOf } from '../choose-backup.ts';
import type { MoveRecord } from '../../run-state/move-record.ts';
import { ownerOf } from '../ownership.ts';

/** The data that the user chose: a backup, or the newest reachable member, at this revision. */
export type RestoreChoice = Choice | { readonly kind: 'reachableMember'; readonly revision: number };

/** A request to replace the current data. */
export interface RestoreRequest {
  /** Equal for equal requests, so that a completed request does not run again. */
  readonly id: string;
  /** `restore` at any time; `recovery` only while etcd has no quorum; `move` once, after a move from another management cluster. */
  readonly kind: 'restore' | 'recovery' | 'move';
  readonly choice: RestoreChoice;
  /** Owner of the backup. */
  readonly owner: BackupOwner;
  /** The user names the owner, even if it is the Cluster itself. */
  readonly isNamed: boolean;
}

/** Determines whether a recovery is due. */
interface QuorumState {
  /** So many members lost their data that the others are no quorum. */
  readonly isLost: boolean;
  /** The request whose run has begun and not ended. */
  readonly begun: string | undefined;
}

/**
 * The current request of a spec. A recovery is requested only while the quorum is lost, and until the recovery has
 * ended. It has precedence, because nothing else is possible without a quorum.
 */
export function requestOf(
  { restore, recovery }: Pick<Etcd, 'restore' | 'recovery'>,
  cluster: { readonly name: string; readonly namespace: string },
  { isLost, begun }: QuorumState,
): RestoreRequest | undefined {
  const own = ownerOf(cluster);
  if (recovery) {
    const request = recoveryOf(recovery.acceptDataLossTo, own);
    if (isLost || request.id === begun) return request;
  }
  return restore && restoreOf(restore, own);
}

/** The request of an object that a move has created: the backup with all data of the object that it was before. */
export function moveOf({ uid, backup }: MoveRecord, own: BackupOwner): RestoreRequest {
  const choice: RestoreChoice = { kind: 'backup', id: backup };
  return { id: digest(['move', uid, backup]), kind: 'move', choice, owner: own, isNamed: true };
}

/** The request of `etcd.recovery.acceptDataLossTo`: the name of a backup, or a revision. */
function recoveryOf(accepted: string, owner: BackupOwner): RestoreRequest {
  const choice: RestoreChoice = parseBackupId(accepted)
    ? { kind: 'backup', id: accepted }
    : { kind: 'reachableMember', revision: Number(accepted) };
  return { id: digest(['recovery', accepted]), kind: 'recovery', choice, owner, isNamed: false };
}

/** The request of `etcd.restore`. */
export function restoreOf(restore: NonNullable<Etcd['restore']>, own: BackupOwner): RestoreRequest {
  const { backup, latest, before, from, request } = restore;
  return {
    id: digest([backup, latest, before, from?.namespace, from?.cluster, request]),
    kind: 'restore',
    choice: choiceOf({ backup, before }),
    owner: from ? { namespace: from.namespace, cluster: from.cluster } : own,
    isNamed: from !== undefined,
  };
}

function digest(source: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(source)).digest('hex').slice(0, 16);
}

/**
 * ID of the run for a request. It contains the start time and everything on which the members must agree, to
 * distinguish leftovers of a run for other members.
 */
export function runId(request: string, startTime: string, members: number): string {
  return `${startTime.slice(0, 19).replaceAll(':', '-')}Z-${request.slice(0, 8)}-${members}`;
}

/** Start of the first year with restores. */
const firstSecond = Date.UTC(2025, 0, 1) / 1000;

/** More writes than a cluster sustains per second. */
const writesPerSecond = 1_000;

/**
 * The increase of the revision: larger than that of the previous restore plus all writes since. With a constant, a
 * second restore of the same backup would return watchers to revisions that they have seen with other content.
 */
export function revisionBump(startTime: string): number {
  return (Math.floor(Date.parse(startTime) / 1000) - firstSecond) * writesPerSecond;
}
