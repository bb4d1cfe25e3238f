import { aheadMs, nextBackupTime, type Schedule } from '../schedule.ts';
import type { VerificationRules } from './plan-verification.ts';

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
