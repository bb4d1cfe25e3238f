import type { RunReport } from './result.ts';

/** How a run of vitest ended. */
export interface LaneEnd {
  readonly name: string;
  readonly code: number;
  /** The files that it was to run. */
  readonly files: readonly string[];
  /** Undefined if it ended before it could write one. */
  readonly report: RunReport | undefined;
}

/** What the ends of all lanes mean. */
export interface Verdict {
  /** Files that run once more, alone: a failure may be the load's. Nothing if there is another reason to be red. */
  readonly again: readonly string[];
  /** Why the run fails whatever these do. */
  readonly red: readonly string[];
}

/** That many files do not fail by chance: what they share is broken, and to see it again takes as long as to see it once. */
const mostAgain = 5;

/** Why nothing on real binaries begins after the pure tests. */
export function refusalAfter(pure: LaneEnd): string | undefined {
  const crash = crashOf(pure);
  if (crash !== undefined) return `${crash}: no others were run`;
  return pure.code === 0 ? undefined : 'a pure test failed: no others were run';
}

/** Decides what follows after the lanes of real binaries have ended. */
export function verdictOf(ends: readonly LaneEnd[]): Verdict {
  const red = ends.flatMap((end) => crashOf(end) ?? []);
  const failed = ends.flatMap(failedFiles);
  if (failed.length > mostAgain) red.push(`${failed.length} files failed: too many to run each once more`);
  return red.length > 0 ? { again: [], red } : { again: failed, red: [] };
}

/** The files of a run with a failed test or hook. */
function failedFiles({ report }: LaneEnd): string[] {
  return report?.files.filter(({ failures }) => failures.length > 0).map(({ file }) => file) ?? [];
}

/** Why a run failed that no file explains: vitest itself, its global set-up, an error outside of any test, or a file that did not end. */
export function crashOf({ name, code, files, report }: LaneEnd): string | undefined {
  if (!report) return `${name}: vitest ended with ${code}, and no file had ended`;
  if (report.unhandled.length > 0) return `${name}: an error outside of any test`;
  const ended = new Set(report.files.map(({ file }) => file));
  const missing = files.filter((file) => !ended.has(file));
  if (missing.length > 0) return `${name}: vitest ended with ${code}, before ${missing.join(', ')}`;
  const isExplained = report.files.some(({ failures }) => failures.length > 0);
  return code !== 0 && !isExplained ? `${name}: vitest ended with ${code}, although no test failed` : undefined;
}
