/** One cron field: `*`, numbers, ranges and steps, as a comma-separated list. */
function cronField(value: string): string {
  const item = `(\\*|(${value})(-(${value}))?)(/[1-9][0-9]?)?`;
  return `${item}(,${item})*`;
}

/** Minute, hour, day of the month, month, and day of the week, where both 0 and 7 mean Sunday. */
const fields = ['[0-5]?[0-9]', '1?[0-9]|2[0-3]', '0?[1-9]|[12][0-9]|3[01]', '0?[1-9]|1[0-2]', '[0-7]'];

/** Pattern of a schedule: `@daily`, or five cron fields separated by one space. */
export const schedulePattern = new RegExp(`^(@daily|${fields.map(cronField).join(' ')})$`);
