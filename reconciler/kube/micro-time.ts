/** metav1.Time has no fractions; with fractions the stored value would differ from the written one. */
export function wholeSeconds(time: Date): string {
  return `${time.toISOString().slice(0, -'.000Z'.length)}Z`;
}

/** RFC 3339 with exactly six decimals, which metav1.MicroTime requires. */
export function microTime(now: number): string {
  return new Date(now).toISOString().replace(/(\.\d{3})Z$/, '$1000Z');
}
