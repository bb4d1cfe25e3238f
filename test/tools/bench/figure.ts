/** One figure of the result. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  /** `ratio` for one of neighbours in the same run, which other runs can be compared with. */
  readonly unit: string;
  /** The goal; missing for figures that only explain others. */
  readonly goal?: { readonly atMost: number } | { readonly atLeast: number };
}

/** A figure and whether it reaches its goal, as one line. */
export function line({ name, value, unit, goal }: Figure): string {
  const figure = `${name.padEnd(72)} ${value.toFixed(2).padStart(8)} ${unit.padEnd(13)}`;
  if (goal === undefined) return figure.trimEnd();
  return `${figure} goal ${goalWords(goal)}: ${isMet({ value, goal }) ? 'met' : 'MISSED'}`;
}

export function goalWords(goal: NonNullable<Figure['goal']>): string {
  return 'atMost' in goal ? `at most ${goal.atMost}` : `at least ${goal.atLeast}`;
}

/** A figure without a goal misses none. */
export function isMet({ value, goal }: Pick<Figure, 'value' | 'goal'>): boolean {
  if (goal === undefined) return true;
  return 'atMost' in goal ? value <= goal.atMost : value >= goal.atLeast;
}

/** The figure without a goal, for a run that is too small for it. */
export function withoutGoal({ name, value, unit }: Figure): Figure {
  return { name, value, unit };
}

/** Names of figures without a measurement: the median of no times is NaN. */
export function unmeasured(figures: readonly Figure[]): string[] {
  return figures.filter(({ value }) => !Number.isFinite(value)).map(({ name }) => name);
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const [below, above] = [Math.ceil(middle) - 1, Math.floor(middle)].map((index) => sorted[index] ?? Number.NaN);
  return ((below ?? Number.NaN) + (above ?? Number.NaN)) / 2;
}

/** The smallest value that this share of them does not exceed; 0.99 for the 99th percentile. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** Milliseconds as seconds, in a column. */
export function seconds(ms: number | undefined): string {
  return ((ms ?? Number.NaN) / 1000).toFixed(2).padStart(6);
}
