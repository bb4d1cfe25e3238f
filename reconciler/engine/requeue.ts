/** When to reconcile an object again although nothing happened; undefined if only an event can change anything. */
export type RequeueAt = Date | undefined;

/** The earliest of several requeue times. */
export function earliest(dates: readonly RequeueAt[]): RequeueAt {
  const times = dates.filter((date) => date !== undefined).map((date) => date.getTime());
  return times.length > 0 ? new Date(Math.min(...times)) : undefined;
}
