import { markdownTable, withBlock } from '../../support/readme-block.ts';
import type { FileTime } from './file-times.ts';
import { tierOf } from './files.ts';
import type { ProcessorTime } from './processor-time.ts';
import { clock } from './summary.ts';

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

/** The page of the tests with what these runs cost. */
export function withRuns(page: string, runs: readonly RunCost[]): string {
  const rows = runs.map(({ day, wallSeconds, cores, coreSeconds, files }) => [
    day,
    tiersOf(Object.keys(files)),
    clock(wallSeconds),
    `${coreSeconds} of ${wallSeconds * cores}`,
  ]);
  const heading = ['day', 'files on real binaries', 'duration', 'core-seconds'];
  return withBlock(page, 'runs', rows.length > 0 ? markdownTable([heading, ...rows]) : 'None has been kept yet.\n');
}

function tiersOf(files: readonly string[]): string {
  const counts = Map.groupBy(files, tierOf);
  return [...counts].map(([tier, { length }]) => `${length} of ${tier}`).join(', ');
}
