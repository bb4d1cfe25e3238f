/** The duration of a test file. */
export interface FileTime {
  /** Relative to the root of the repository. */
  readonly file: string;
  /** From the start of its process to the end of its last hook, without the wait for room. */
  readonly wallSeconds: number;
  /** Until the processors had room for it. */
  readonly waitedSeconds: number;
  /** Of its own process and of those it started and waited for, without pods. */
  readonly processorSeconds: number;
}

/** File to seconds, as committed: they tell which files fit into a budget of time. */
export type Durations = Readonly<Record<string, number>>;

/** A drift below this many seconds is noise, whatever its share. */
const noiseSeconds = 10;

/** The durations of a run, in the order of their names, of files that take `atLeast` seconds. */
export function durationsOf(times: readonly FileTime[], atLeast = 0): Durations {
  const long = times.filter(({ wallSeconds }) => wallSeconds >= atLeast);
  const entries = long.map(({ file, wallSeconds }) => [file, Math.round(wallSeconds)] as const);
  return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** A line for each file whose duration differs by more than half from the committed one. */
export function drift(committed: Durations, measured: Durations): string[] {
  return Object.entries(measured).flatMap(([file, seconds]) => {
    const known = committed[file];
    if (known === undefined) return [`${file} is new: ${seconds} s`];
    const difference = Math.abs(seconds - known);
    return difference > noiseSeconds && difference > known / 2 ? [`${file}: ${known} s before, ${seconds} s now`] : [];
  });
}

/** The committed durations with those of a run, which may have been one of some files, without files that are gone. */
export function keptDurations(committed: Durations, measured: Durations, files: readonly string[]): Durations {
  const known: Durations = { ...committed, ...measured };
  return Object.fromEntries(files.flatMap((file) => (known[file] === undefined ? [] : [[file, known[file]]])));
}
