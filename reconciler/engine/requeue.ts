/** When to look at an object again although nothing happened; undefined where only an event can change anything. */
export type Again = Date | undefined;

/** The first of several reasons to look again. */
export function earliest(dates: readonly Again[]): Again {
  const times = dates.filter((date) => date !== undefined).map((date) => date.getTime());
  return times.length > 0 ? new Date(Math.min(...times)) : undefined;
}
