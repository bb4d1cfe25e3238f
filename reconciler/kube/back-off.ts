/** How long to wait before the next attempt. */
export interface BackOff {
  /** After the first failure. */
  readonly firstMs: number;
  readonly longestMs: number;
}

/**
 * Exponential back-off: twice as long after each further failure in a row, up to the longest.
 * @param failures in a row, 1 for the first
 */
export function backOff({ firstMs, longestMs }: BackOff, failures: number): number {
  return Math.min(longestMs, firstMs * 2 ** Math.max(0, failures - 1));
}
