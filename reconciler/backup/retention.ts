/** How long backups are kept. Both limits apply. Without limits, no backup is ever deleted. */
export interface RetentionPolicy {
  /** Number of newest backups to keep. */
  readonly maxCount?: number | undefined;
  /** Older backups are deleted. */
  readonly maxAgeMs?: number | undefined;
}

/** What retention needs to know about a backup. */
export interface RetainedBackup {
  /** When it began, in milliseconds since the epoch. */
  readonly time: number;
  /** Whether the backup has passed verification. */
  readonly isVerified: boolean;
}

/**
 * The backups to delete, oldest first. Retention always keeps the newest and the newest verified backup, regardless of
 * the policy: when backups stop, for example because the store is full, time alone must not delete the last good one.
 */
export function expiredBackups<T extends RetainedBackup>(
  backups: readonly T[],
  { maxCount = Infinity, maxAgeMs = Infinity }: RetentionPolicy,
  now: number,
): T[] {
  const newestFirst = backups.toSorted((one, other) => other.time - one.time);
  const newestVerified = newestFirst.find(({ isVerified }) => isVerified);
  return newestFirst
    .filter((backup, index) => {
      if (index === 0 || backup === newestVerified) return false;
      return index >= maxCount || now - backup.time > maxAgeMs;
    })
    .reverse();
}
