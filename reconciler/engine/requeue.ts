/** When to look at an object again although nothing happened; undefined where only an event can change anything. */
export type RequeueAt = Date | undefined;

/** The first of several reasons to look again. */
export function earliest(dates: readonly RequeueAt[]): RequeueAt {
  const times = dates.filter((date) => date !== undefined).map((date) => date.getTime());
  return times.length > 0 ? new Date(Math.min(...times)) : undefined;
}
