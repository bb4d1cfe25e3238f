import { createHash } from 'node:crypto';
import { Cron } from 'croner';

/** When backups of one cluster are due. */
export interface Schedule {
  /** `@daily`, or five cron fields: minute, hour, day of the month, month, day of the week (0 and 7 are Sunday). */
  readonly expression: string;
  /** IANA name such as `Europe/Berlin`; UTC when unset. */
  readonly timeZone?: string | undefined;
  /** `namespace/name`: decides which minute of the night `@daily` means. */
  readonly identity: string;
}

/** `@daily` is somewhere in these eight hours from 20:00 on, when few people change anything. */
const night = { startHour: 20, minutes: 8 * 60 };

/**
 * The first time after an instant (milliseconds since the epoch) at which a backup is due. A time that the change to
 * summer time leaves out is made up for right after it; one that comes twice counts once, unless the minute or hour is `*`
 * or has a step. Throws a sentence for the user when the schedule cannot be read or never comes.
 */
export function nextBackupTime(schedule: Schedule, after: number): number {
  const next = parse(schedule).nextRun(new Date(after));
  if (next) return next.getTime();
  throw new Error(`schedule "${schedule.expression}" never comes: no such day exists; for example "30 2 * * *" does`);
}

/** Whether a backup has to be taken now: none was ever taken, or a time has passed since. Several missed ones are one. */
export function isBackupDue(schedule: Schedule, lastBackup: number | undefined, now: number): boolean {
  return lastBackup === undefined || nextBackupTime(schedule, lastBackup) <= now;
}

function parse({ expression, timeZone = 'UTC', identity }: Schedule): Cron {
  if (!isTimeZone(timeZone)) {
    throw new Error(`time zone "${timeZone}" is unknown: use an IANA name such as Europe/Berlin`);
  }
  const fields = expression === '@daily' ? dailyFields(identity) : expression;
  try {
    return new Cron(fields, {
      mode: '5-part',
      timezone: timeZone,
      // 30 2,14 loses a backup a year otherwise: only a single time would be made up for
      fixedTimeRule: 'no-wildcard',
      // 5/15 means 5-59/15, as the field's pattern allows
      sloppyRanges: true,
    });
  } catch (cause) {
    throw new Error(`schedule "${expression}" is not @daily or five cron fields such as "30 2 * * *"`, { cause });
  }
}

/** All clusters of a management cluster at midnight would meet at the same store and disks. */
function dailyFields(identity: string): string {
  const minute = createHash('sha256').update(identity).digest().readUInt32BE() % night.minutes;
  return `${minute % 60} ${(night.startHour + Math.floor(minute / 60)) % 24} * * *`;
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
