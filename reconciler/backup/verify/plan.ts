import type { StoredBackup } from '../cluster-backups.ts';
import type { BackupName } from '../names.ts';
import { expiredBackups, type RetentionPolicy } from '../retention.ts';
import { nextBackupTime, type Schedule } from '../schedule.ts';

/** When backups are restored for a trial. */
export interface VerificationRules {
  /** Every so-manieth backup, counted from the last good one. */
  readonly every: number;
  /** When the newest one is, besides. */
  readonly schedule: Schedule | undefined;
  readonly retention: RetentionPolicy;
}

/** What is known of the backups of a cluster. */
export interface VerificationSituation {
  /** Newest first. */
  readonly backups: readonly StoredBackup[];
  /** When the newest good trial ended, in milliseconds since the epoch; undefined when there was none. */
  readonly lastVerification: number | undefined;
  readonly now: number;
}

/** Whether a backup is to be restored for a trial now. */
export type VerificationDecision =
  /** There is none yet. */
  | { readonly kind: 'no-backup' }
  | { readonly kind: 'due'; readonly backup: BackupName }
  /** Not now; `next` is the time when it will be without another backup, if that comes. */
  | { readonly kind: 'rest'; readonly next: number | undefined };

/**
 * The newest backup is verified when none ever was, when so many have come since, when the schedule says so, and when the
 * last good one is kept for nothing but being good: where few are kept, `every` would never be reached. A backup that was
 * verified stays so: what changes in the store later is another trial's matter, of the next backup.
 */
export function planVerification(
  { every, schedule, retention }: VerificationRules,
  { backups, lastVerification, now }: VerificationSituation,
): VerificationDecision {
  const [newest] = backups;
  if (!newest) return { kind: 'no-backup' };
  if (newest.isVerified) return { kind: 'rest', next: undefined };
  const due = { kind: 'due', backup: { time: newest.time, revision: newest.revision } } as const;

  const since = backups.findIndex(({ isVerified }) => isVerified);
  if (since < 0 || since >= every) return due;
  const asOthers = backups.map((backup) => ({ ...backup, isVerified: false }));
  if (expiredBackups(asOthers, retention, now).some(({ time }) => time === backups[since]?.time)) return due;
  if (schedule === undefined) return { kind: 'rest', next: undefined };
  const next = nextBackupTime(schedule, lastVerification ?? 0);
  return next <= now ? due : { kind: 'rest', next };
}
