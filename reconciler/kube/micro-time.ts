/** RFC 3339 with exactly six decimals, which metav1.MicroTime requires. */
export function microTime(now: number): string {
  return new Date(now).toISOString().replace(/(\.\d{3})Z$/, '$1000Z');
}
