import { createHash } from 'node:crypto';
import { Cron } from 'croner';
import { isTimeZone, scheduleForm } from '../../constructs/api/schedule.ts';

/** When backups of one cluster are due. */
export interface Schedule {
  /** `@hourly`, `@daily`, `@weekly`, or five cron fields: minute, hour, day of the month, month, day of the week (0 and 7 are Sunday). */
  readonly expression: string;
  /** IANA name such as `Europe/Berlin`; UTC when unset. */
  readonly timeZone?: string | undefined;
  /** `namespace/name`: determines the time for a schedule with a name. */
  readonly identity: string;
}

/** `@daily` and `@weekly` are within these eight hours from 20:00 on, when few changes happen. */
const night = { startHour: 20, minutes: 8 * 60 };

/**
 * The first time after an instant (milliseconds since the epoch) at which a backup is due. A time that the change to
 * daylight saving time skips is due right after it. A time that occurs twice counts once, unless the minute or hour is
 * `*` or has a step. Throws a sentence for the user if the schedule is invalid or never occurs.
 */
export function nextBackupTime(schedule: Schedule, after: number): number {
  const next = parse(schedule).nextRun(new Date(after));
  if (next) return next.getTime();
  throw new Error(
    `schedule "${schedule.expression}" never occurs, because no such day exists: use for example "30 2 * * *"`,
  );
}

/**
 * Whether a backup is due now: there is none, or a scheduled time has passed since. Several missed times count as one. The time of
 * the last one may be that of a clock that was ahead: then it is not known when it was taken, and the next one is due.
 */
export function isBackupDue(schedule: Schedule, lastBackup: number | undefined, now: number): boolean {
  if (lastBackup === undefined || lastBackup > now + aheadMs) return true;
  return nextBackupTime(schedule, lastBackup) <= now;
}

/** A later time than now by more than this is that of a clock that was ahead. */
export const aheadMs = 5 * 60_000;

/** Enough times of a schedule to meet its longest period: a week of those that rest at weekends, a year of months. */
const sampledTimes = 12;
const sampledFrom = Date.UTC(2025, 0, 1);

/** The longest time between two backups, in milliseconds. @throws as {@link nextBackupTime} */
export function longestPeriodMs(schedule: Schedule): number {
  const times: number[] = [];
  while (times.length <= sampledTimes) times.push(nextBackupTime(schedule, times.at(-1) ?? sampledFrom));
  return Math.max(...times.slice(1).map((time, index) => time - (times[index] ?? time)));
}

function parse({ expression, timeZone = 'UTC', identity }: Schedule): Cron {
  if (!isTimeZone(timeZone)) {
    throw new Error(`time zone "${timeZone}" is unknown: use an IANA name such as Europe/Berlin`);
  }
  const fields = namedFields(expression, identity) ?? expression;
  try {
    return new Cron(fields, {
      mode: '5-part',
      timezone: timeZone,
      // Otherwise `30 2,14` would lose a backup per year, because only a single time would be caught up.
      fixedTimeRule: 'no-wildcard',
      // 5/15 means 5-59/15, as the field's pattern allows.
      sloppyRanges: true,
    });
  } catch (cause) {
    throw new Error(`schedule "${expression}" ${scheduleForm}`, { cause });
  }
}

/**
 * The cron fields of a schedule with a name. If all clusters of a management cluster started at midnight, they would overload the same
 * store and disks.
 */
function namedFields(name: string, identity: string): string | undefined {
  const number = createHash('sha256').update(identity).digest().readUInt32BE();
  const ofNight = number % night.minutes;
  const minute = ofNight % 60;
  const hour = (night.startHour + Math.floor(ofNight / 60)) % 24;
  const fields: Readonly<Record<string, string>> = {
    '@hourly': `${minute} * * * *`,
    '@daily': `${minute} ${hour} * * *`,
    '@weekly': `${minute} ${hour} * * ${Math.floor(number / night.minutes) % 7}`,
  };
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}
