import type { Backup } from '../../constructs/api/backup-spec.ts';
import { durationSeconds } from '../../constructs/api/duration.ts';
import type { RetentionPolicy } from './retention.ts';
import { longestPeriodMs } from './schedule.ts';

/** How long backups are kept, according to the spec. @throws a sentence for the user about the schedule */
export function retentionOf({ retention: { maxCount, maxAge }, schedule, timeZone }: Backup): RetentionPolicy {
  return {
    maxCount,
    maxAgeMs: maxAge === undefined ? undefined : durationSeconds(maxAge) * 1000,
    // The minute of `@daily` does not change its period.
    periodMs: longestPeriodMs({ expression: schedule, timeZone, identity: '' }),
  };
}
