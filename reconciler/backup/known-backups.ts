import { type EtcdStatus, takenFor } from '../../constructs/api/etcd-status.ts';
import { definedOnly } from '../../constructs/cluster/defined-only.ts';
import type { WorkState } from '../engine/tasks/background-work.ts';
import type { StatusReport } from '../engine/status-report.ts';
import { type BackupCause, changeCause, requestCause } from './causes.ts';
import { type BackupName, parseBackupId } from '../../constructs/cluster/backup-names.ts';
import type { BackupResult } from './take-backup.ts';

/** What is known of the backups of a cluster. The store is authoritative, and is read before an action. */
type KnownBackups = NonNullable<EtcdStatus['backup']>;

/** Requests for a backup besides the schedule. */
interface BackupRequests {
  /** The user's annotation; no request if it is empty. */
  readonly request: string | undefined;
  /** Requested changes of minor versions, and stops of API servers, that must not go on without a backup. */
  readonly changes: readonly string[];
}

/** The backups in the status, updated by an attempt that the status does not contain yet. */
export function knownBackups(
  status: KnownBackups | undefined,
  { request, changes }: BackupRequests,
  work: WorkState<BackupResult>,
): KnownBackups {
  const { takenFor: _, versionChanges: _before, ...known } = status ?? {};
  const taken = takenFor(status);
  const attempt = attemptSince(known.lastAttemptTime, work);
  const result = attempt?.kind === 'done' ? attempt.result : undefined;
  const isSatisfied = (cause: BackupCause): boolean => result?.satisfied.includes(cause) ?? false;
  // A change that has ended, or was withdrawn, needs a new backup when it is requested again.
  const backedUp = changes.filter((change) => taken.includes(change) || isSatisfied(changeCause(change)));
  return {
    ...known,
    ...(result ? { lastBackup: result.newest, sizeBytes: result.sizeBytes } : {}),
    ...(request !== undefined && isSatisfied(requestCause(request)) ? { lastRequest: request.slice(0, 256) } : {}),
    ...(backedUp.length > 0 ? { takenFor: backedUp } : {}),
    ...(attempt ? { lastAttemptTime: attempt.at.toISOString() } : {}),
  };
}

function attemptSince(lastAttemptTime: string | undefined, work: WorkState<BackupResult>) {
  if (work.kind !== 'done' && work.kind !== 'failed') return undefined;
  return lastAttemptTime === undefined || Date.parse(lastAttemptTime) < work.at.getTime() ? work : undefined;
}

/** Requests that have no backup yet. */
export function openCauses({ request, changes }: BackupRequests, known: KnownBackups): readonly BackupCause[] {
  const isNew = request !== undefined && request !== '' && request.slice(0, 256) !== known.lastRequest;
  return [
    ...(isNew ? [requestCause(request)] : []),
    ...changes.filter((change) => !takenFor(known).includes(change)).map(changeCause),
  ];
}

/** The newest backup; undefined if none is known. */
export function newestKnown({ lastBackup }: KnownBackups): BackupName | undefined {
  return lastBackup === undefined ? undefined : parseBackupId(lastBackup);
}

/** The status fields for the known backups. */
export function backupReport(known: KnownBackups, nextTime: number | undefined): StatusReport {
  const last = newestKnown(known)?.time;
  return {
    ...definedOnly({
      etcdLastBackupTime: last === undefined ? undefined : new Date(last).toISOString(),
      etcdNextBackupTime: nextTime === undefined ? undefined : new Date(nextTime).toISOString(),
    }),
    ...(Object.keys(known).length > 0 ? { etcd: { backup: known } } : {}),
  };
}
