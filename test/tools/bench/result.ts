import { execFileSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import type { Figure } from './figure.ts';
import type { ProcessPart, TestbedPart } from './parts.ts';

/** Where a part was measured. Of old results, what is known. */
export interface Machine {
  /** The processor's name for itself. */
  readonly processor?: string;
  readonly cores: number;
  readonly memoryGiB?: number;
  /** Version of Node. */
  readonly node?: string;
}

/** What one run of a part of the bench has measured. */
export interface Result {
  readonly part: ProcessPart | TestbedPart;
  readonly date: string;
  /** With `+` if what was measured differs from it; missing if it is not known. */
  readonly commit?: string;
  readonly machine: Machine;
  /** What all processors of the machine did meanwhile, other work included; missing if it is not known. */
  readonly coreSeconds?: number;
  /** What the command line asks for. Results of other extents are not compared. */
  readonly extent: Readonly<Record<string, string | number>>;
  readonly figures: readonly Figure[];
}

/** More digits are noise, and make a difference in every line of a kept result. */
const digits = 4;

/** The share of a ratio by which it may be worse than before. */
const tolerance = 0.2;

export function thisMachine(): Machine {
  const [first] = cpus();
  const memoryGiB = Math.round(totalmem() / 2 ** 30);
  return { processor: first?.model.trim() ?? '', cores: cpus().length, memoryGiB, node: process.version };
}

/** The commit that is checked out; undefined outside of a checkout. */
export function thisCommit(): string | undefined {
  const git = (...args: string[]) =>
    execFileSync('git', args, {
      cwd: import.meta.dirname,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  try {
    return `${git('rev-parse', '--short=8', 'HEAD')}${git('status', '--porcelain') === '' ? '' : '+'}`;
  } catch {
    return undefined;
  }
}

/** The result as it is kept. */
export function rounded(result: Result): Result {
  const round = (value: number) => Number(value.toPrecision(digits));
  return {
    ...result,
    ...(result.coreSeconds === undefined ? {} : { coreSeconds: Math.round(result.coreSeconds) }),
    figures: result.figures.map((figure) => ({ ...figure, value: round(figure.value) })),
  };
}

/** The last of these results, which are in order, that a result of this part, extent and kind of machine can be compared with. */
export function comparable(
  kept: readonly Result[],
  result: Pick<Result, 'part' | 'extent' | 'machine'>,
): Result | undefined {
  const kind = kindOf(result);
  return kind === undefined ? undefined : kept.findLast((one) => kindOf(one) === kind);
}

/** Undefined for a machine whose processor is not known. The version of Node belongs to what is measured, and medians of more runs are the same ratios. */
function kindOf({
  part,
  extent,
  machine: { processor, cores, memoryGiB },
}: Pick<Result, 'part' | 'extent' | 'machine'>) {
  if (processor === undefined) return undefined;
  const { runs: _, ...size } = extent;
  return JSON.stringify([
    part,
    Object.entries(size).toSorted(([one], [other]) => one.localeCompare(other)),
    processor,
    cores,
    memoryGiB,
  ]);
}

/** A line for each ratio that is worse than before by more than a fifth. Without a goal of its own a ratio is a cost. */
export function regressions(before: Result | undefined, now: Pick<Result, 'figures'>): string[] {
  return now.figures.flatMap(({ name, value, unit, goal }) => {
    const old = before?.figures.find((figure) => figure.name === name && figure.unit === 'ratio');
    if (unit !== 'ratio' || !old) return [];
    const isGain = goal !== undefined && 'atLeast' in goal;
    const isWorse = isGain ? value < old.value * (1 - tolerance) : value > old.value * (1 + tolerance);
    return isWorse ? [`${name}: ${value.toFixed(2)}, and ${old.value.toFixed(2)} on ${before?.date}`] : [];
  });
}
