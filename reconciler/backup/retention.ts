/** How long backups are kept. Both limits hold; without any nothing is ever deleted. */
export interface RetentionPolicy {
  /** The newest so many are kept. */
  readonly maxCount?: number | undefined;
  /** Older ones are deleted. */
  readonly maxAgeMs?: number | undefined;
}

/** What retention has to know about a backup. */
export interface RetainedBackup {
  /** When it was begun, in milliseconds since the epoch. */
  readonly time: number;
  /** Whether it has been restored for a trial, and that went well. */
  readonly isVerified: boolean;
}

/**
 * The backups to delete, oldest first. Never the newest one, nor the newest verified one, whatever the policy says: when
 * backups stop, for example because the store is full, time alone must not take away the last good one.
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
