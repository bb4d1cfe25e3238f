import type { Backup } from '../../constructs/api/backup-spec.ts';
import { durationSeconds } from '../../constructs/api/duration.ts';
import { longestPeriodMs } from './schedule.ts';

/** How long backups are kept. Both limits apply. Without limits, no backup is ever deleted. */
export interface RetentionPolicy {
  /** Number of newest backups to keep. */
  readonly maxCount?: number | undefined;
  /** Older backups than this are deleted, measured from the newest one. */
  readonly maxAgeMs?: number | undefined;
  /** The longest time between two backups of the schedule. */
  readonly periodMs: number;
}

/** What retention needs to know about a backup. */
export interface RetainedBackup {
  /** When it began, in milliseconds since the epoch, by a clock that may have been wrong. */
  readonly time: number;
  /** Whether the backup has passed verification. */
  readonly isVerified: boolean;
}

/** A longer time between two backups says that one of their times is wrong, or that none were taken meanwhile. */
const longestGap = 2;

/**
 * The backups to delete, oldest first. Retention always keeps the newest and the newest verified backup, regardless of
 * the policy: when backups stop, for example because the store is full, time alone must not delete the last good one.
 * For the same reason the age of a backup is the sum of the times between the newer ones, and what is longer than two periods counts as
 * one: no clock that jumps, and no pause, expires more than a backup that is taken on schedule would.
 * @param backups in the order in which they were taken, the newest first
 */
export function expiredBackups<T extends RetainedBackup>(
  backups: readonly T[],
  { maxCount = Infinity, maxAgeMs = Infinity, periodMs }: RetentionPolicy,
): T[] {
  const newestVerified = backups.find(({ isVerified }) => isVerified);
  const ages = agesOf(backups, periodMs);
  return backups
    .filter((backup, index) => {
      if (index === 0 || backup === newestVerified) return false;
      return index >= maxCount || (ages[index] ?? 0) > maxAgeMs;
    })
    .reverse();
}

function agesOf(backups: readonly RetainedBackup[], periodMs: number): number[] {
  let age = 0;
  return backups.map(({ time }, index) => {
    const gap = (backups[index - 1]?.time ?? time) - time;
    age += Math.abs(gap) > longestGap * periodMs ? periodMs : gap;
    return age;
  });
}

/** How long backups are kept, according to the spec. @throws a sentence for the user about the schedule */
export function retentionOf({ retention: { maxCount, maxAge }, schedule, timeZone }: Backup): RetentionPolicy {
  return {
    maxCount,
    maxAgeMs: maxAge === undefined ? undefined : durationSeconds(maxAge) * 1000,
    // The time of `@daily` and its like does not change the period.
    periodMs: longestPeriodMs({ expression: schedule, timeZone, identity: '' }),
  };
}
