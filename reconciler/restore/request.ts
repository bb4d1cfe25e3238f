import { createHash } from 'node:crypto';
import type { Etcd } from '../../constructs/api/etcd-spec.ts';
import { parseBackupId, type BackupOwner } from '../backup/names.ts';
import type { Choice } from '../backup/choose-backup.ts';

/** Which data a person means: a backup, or that of the newest member that is left, which has this revision. */
export type RestoreChoice = Choice | { readonly kind: 'survivor'; readonly revision: number };

/** Data that is asked to take the place of what there is. */
export interface RestoreRequest {
  /** The same for the same wish: what ran once for it does not run again. */
  readonly id: string;
  /** `Restore` at any time; `Recovery` only while a quorum of etcd is gone. */
  readonly kind: 'Restore' | 'Recovery';
  readonly choice: RestoreChoice;
  /** Whose backup. */
  readonly owner: BackupOwner;
}

/** What has to be known to tell whether a recovery is due. */
export interface QuorumState {
  /** Data of so many members is gone that the others are no quorum. */
  readonly isLost: boolean;
  /** The request whose run has begun and not ended. */
  readonly begun: string | undefined;
}

/**
 * What a spec asks for now. A recovery is asked for only while the quorum is lost, and until it has ended; it comes first,
 * because without a quorum there is nothing else that could be done.
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

/** What `etcd.recovery.acceptDataLossTo` asks for: the name of a backup, or a revision. */
function recoveryOf(accepted: string, owner: BackupOwner): RestoreRequest {
  const choice: RestoreChoice = parseBackupId(accepted)
    ? { kind: 'backup', id: accepted }
    : { kind: 'survivor', revision: Number(accepted) };
  return { id: digest(['recovery', accepted]), kind: 'Recovery', choice, owner };
}

/** Whose backups a cluster's own are. */
export function ownerOf({ name, namespace }: { readonly name: string; readonly namespace: string }): BackupOwner {
  return { namespace, cluster: name };
}

/** What `etcd.restore` asks for. */
export function restoreOf(restore: NonNullable<Etcd['restore']>, own: BackupOwner): RestoreRequest {
  const { backup, latest, before, from, request } = restore;
  const choice: Choice =
    backup !== undefined
      ? { kind: 'backup', id: backup }
      : before === undefined
        ? { kind: 'latest' }
        : { kind: 'before', before };
  return {
    id: digest([backup, latest, before, from?.namespace, from?.cluster, request]),
    kind: 'Restore',
    choice,
    owner: from ? { namespace: from.namespace, cluster: from.cluster } : own,
  };
}

function digest(source: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(source)).digest('hex').slice(0, 16);
}

/**
 * Id of the run that works for a request: by its time and by everything the members must agree about, so that what a run
 * for other members has left is told from it.
 */
export function runId(request: string, startTime: string, members: number): string {
  return `${startTime.slice(0, 19).replaceAll(':', '-')}Z-${request.slice(0, 8)}-${members}`;
}

/** Beginning of the years in which there are restores. */
const firstSecond = Date.UTC(2025, 0, 1) / 1000;

/** More writes than a cluster takes in a second in the long run. */
const writesPerSecond = 1_000;

/**
 * What the revision goes up by: more than the restore before did, and all that was written since. With a fixed number a
 * second restore of one backup would lead watchers back into revisions that they have seen with other content.
 */
export function revisionBump(startTime: string): number {
  return (Math.floor(Date.parse(startTime) / 1000) - firstSecond) * writesPerSecond;
}
