import type { StoredBackup } from '../cluster-backups.ts';
import type { BackupName } from '../../../constructs/cluster/backup-names.ts';
import { expiredBackups, type RetentionPolicy } from '../retention.ts';
import { isBackupDue, nextBackupTime, type Schedule, aheadMs } from '../schedule.ts';

/** When backups are verified. */
export interface VerificationRules {
  /** Verify every Nth backup, counted from the last verified one. */
  readonly every: number;
  /** When to verify the newest backup in addition. */
  readonly schedule: Schedule | undefined;
  readonly retention: RetentionPolicy;
}

/** The known backups of a cluster. */
export interface VerificationInput {
  /** Newest first. */
  readonly backups: readonly StoredBackup[];
  /** When the newest successful verification ended, in milliseconds since the epoch; undefined if there was none. */
  readonly lastVerification: number | undefined;
  readonly now: number;
}

/** Whether to verify a backup now. */
export type VerificationDecision =
  /** There is no backup yet. */
  | { readonly kind: 'noBackup' }
  | { readonly kind: 'due'; readonly backup: BackupName }
  /** Not now. `next` is the time when a verification becomes due without another backup, if ever. */
  | { readonly kind: 'idle'; readonly next: number | undefined };

/**
 * The newest backup is verified when none ever was, when `every` backups have been taken since, when the schedule
 * requires it, and when retention keeps the last verified backup only because it is verified: if few backups are kept,
 * `every` would never be reached. A verified backup stays verified. The verification of the next backup detects later
 * changes of the store.
 */
export function planVerification(
  { every, schedule, retention }: VerificationRules,
  { backups, lastVerification, now }: VerificationInput,
): VerificationDecision {
  const [newest] = backups;
  if (!newest) return { kind: 'noBackup' };
  if (newest.isVerified) return { kind: 'idle', next: undefined };
  const due = { kind: 'due', backup: { time: newest.time, revision: newest.revision } } as const;

  const since = backups.findIndex(({ isVerified }) => isVerified);
  if (since < 0 || since >= every) return due;
  const asOthers = backups.map((backup) => ({ ...backup, isVerified: false }));
  if (expiredBackups(asOthers, retention).some((backup) => backup === asOthers[since])) return due;
  if (schedule === undefined) return { kind: 'idle', next: undefined };
  const next = nextBackupTime(schedule, lastVerification ?? 0);
  return isBackupDue(schedule, lastVerification, now) ? due : { kind: 'idle', next };
}

/**
 * Whether a verification is missing: a whole further backup, or a whole further time of the schedule for verifications, has passed
 * since the one that had to be verified. What is due now may still be running.
 * @param last when the last verification ended, in milliseconds since the epoch @throws for a schedule that never occurs
 */
export function isVerificationOverdue(
  { every, schedule }: Pick<VerificationRules, 'every' | 'schedule'>,
  backups: Schedule,
  { last, now }: { readonly last: number; readonly now: number },
): boolean {
  // That of a clock that was ahead says nothing.
  if (last > now + aheadMs) return true;
  return havePassed(every + 1, backups, last, now) || (schedule !== undefined && havePassed(2, schedule, last, now));
}

/** It asks for no time after now, however many there may be. */
function havePassed(times: number, schedule: Schedule, after: number, now: number): boolean {
  if (times === 0) return true;
  const next = nextBackupTime(schedule, after);
  return next <= now && havePassed(times - 1, schedule, next, now);
}
