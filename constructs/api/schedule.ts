import { textOf } from './validation-rule.ts';

/** One cron field: `*`, numbers, ranges and steps, as a comma-separated list. */
function cronField(value: string): string {
  const item = `([*]|(${value})(-(${value}))?)(/[1-9][0-9]?)?`;
  return `${item}(,${item})*`;
}

/** Minute, hour, day of the month, month, and day of the week, where both 0 and 7 mean Sunday. */
const fields = ['[0-5]?[0-9]', '1?[0-9]|2[0-3]', '0?[1-9]|[12][0-9]|3[01]', '0?[1-9]|1[0-2]', '[0-7]'];

const cronFields = fields.map(cronField).join(' ');

const schedule = (pattern: string, message: string) => textOf(`^(${pattern})$`, 256, message);

/** What a schedule must be, as the end of a sentence. */
export const scheduleForm = 'must be @hourly, @daily, @weekly or five cron fields such as "30 2 * * *"';

/** When something is due. */
export const Schedule = schedule(`@hourly|@daily|@weekly|${cronFields}`, scheduleForm);

/** The same for what must not begin at another time for each cluster. */
export const CronFields = schedule(cronFields, 'must be five cron fields such as "0 2 * * 6"');

/** Whether the runtime knows a time zone. A CEL rule cannot check this: the operator refuses others. */
export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

const timeZoneForm = 'must be an IANA time zone such as Europe/Berlin';

/** An IANA time zone. */
export const TimeZone = textOf('^[A-Za-z][-+_A-Za-z0-9]*(/[-+_A-Za-z0-9]+)*$', 64, timeZoneForm).refine(
  isTimeZone,
  timeZoneForm,
);
