import type { FileTime } from './file-times.ts';
import type { ProcessorTime } from './processor-time.ts';

/** What a run cost. Two of them can be compared by file and by program. */
export interface RunCost {
  readonly day: string;
  readonly wallSeconds: number;
  readonly cores: number;
  readonly coreSeconds: number;
  readonly byProgram: Readonly<Record<string, number>>;
  /** Of files on real binaries, whose pods count under their programs only. */
  readonly files: Readonly<Record<string, { readonly wallSeconds: number; readonly coreSeconds: number }>>;
}

/** Enough to compare with, few enough to read. */
const keptRuns = 3;

/** What a program must take to be told, in seconds. */
const leastSeconds = 5;

export function costOf(day: string, time: ProcessorTime, files: readonly FileTime[]): RunCost {
  const programs = Object.entries(time.byProgram).filter(([, seconds]) => seconds >= leastSeconds);
  return {
    day,
    wallSeconds: Math.round(time.wallSeconds),
    cores: time.cores,
    coreSeconds: Math.round(time.busySeconds),
    byProgram: Object.fromEntries(programs.map(([program, seconds]) => [program, Math.round(seconds)])),
    files: Object.fromEntries(
      files
        .toSorted((one, other) => (one.file < other.file ? -1 : 1))
        .map(({ file, wallSeconds, processorSeconds }) => [
          file,
          { wallSeconds: Math.round(wallSeconds), coreSeconds: Math.round(processorSeconds) },
        ]),
    ),
  };
}

/** The last runs with one more. */
export function withRun(runs: readonly RunCost[], run: RunCost): RunCost[] {
  return [...runs, run].slice(-keptRuns);
}
