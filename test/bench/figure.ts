/** One figure of the result. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What we want it to be; missing for what only explains the others. */
  readonly goal?: { readonly atMost: number } | { readonly atLeast: number };
}

/** A figure and whether it is what we want, as one line. */
export function line({ name, value, unit, goal }: Figure): string {
  const figure = `${name.padEnd(72)} ${value.toFixed(2).padStart(8)} ${unit.padEnd(13)}`;
  if (goal === undefined) return figure.trimEnd();
  const [words, isMet] =
    'atMost' in goal
      ? [`at most ${goal.atMost}`, value <= goal.atMost]
      : [`at least ${goal.atLeast}`, value >= goal.atLeast];
  return `${figure} goal ${words}: ${isMet ? 'met' : 'MISSED'}`;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 ? (sorted[middle] ?? Number.NaN) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

/** The smallest of the values that this share of them does not exceed; 0.99 for the 99th percentile. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** Milliseconds as seconds, in a column. */
export function seconds(ms: number | undefined): string {
  return ((ms ?? Number.NaN) / 1000).toFixed(2).padStart(6);
}
