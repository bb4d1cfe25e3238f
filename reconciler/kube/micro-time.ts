/** RFC 3339 with exactly six decimals, as metav1.MicroTime demands; any other number of them is refused. */
export function microTime(now: number): string {
  return new Date(now).toISOString().replace(/(\.\d{3})Z$/, '$1000Z');
}
