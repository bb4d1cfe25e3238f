import { readFile } from 'node:fs/promises';
import type { Figure } from '../figure.ts';

/** How long the event loop of a process stood still, since its start. */
export interface LoopStalls {
  /** How often, by the bounds of {@link bounds}. */
  readonly counts: readonly number[];
  readonly longestMs: number;
}

/** Lower bounds in milliseconds; a stall belongs to the last one that it reaches. */
const bounds = [50, 100, 200, 500, 1_000];
const periodMs = 20;
const writeMs = 1_000;

/** A URL for `--import` of Node, which makes a process write its {@link LoopStalls} to a file each second. It loads no other module, whose memory would count. */
export function watchingModule(file: string): string {
  return `data:text/javascript,${encodeURIComponent(`(${String(watchLoop)})(${JSON.stringify({ file, bounds, periodMs, writeMs })})`)}`;
}

/** The source of the module: it may use nothing from outside. A timer that is late by the time of a stall costs a thousandth of a core. */
function watchLoop(options: { file: string; bounds: number[]; periodMs: number; writeMs: number }): void {
  const { renameSync, writeFileSync } = process.getBuiltinModule('node:fs');
  const counts = options.bounds.map(() => 0);
  // Until the first turn of the loop the program is loaded, and serves nothing.
  let [longestMs, last, written] = [0, Infinity, performance.now()];
  const look = (): void => {
    const now = performance.now();
    const ms = now - last - options.periodMs;
    last = now;
    longestMs = Math.max(longestMs, ms);
    const bound = options.bounds.findLastIndex((least) => ms >= least);
    if (bound >= 0) counts[bound] = (counts[bound] ?? 0) + 1;
    if (now - written < options.writeMs) return;
    written = now;
    writeFileSync(`${options.file}.new`, JSON.stringify({ counts, longestMs }));
    renameSync(`${options.file}.new`, options.file);
  };
  setInterval(look, options.periodMs).unref();
}

/** What a process has written; nothing in its first second. */
export async function stallsIn(file: string): Promise<LoopStalls> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  return text === undefined ? { counts: bounds.map(() => 0), longestMs: 0 } : (JSON.parse(text) as LoopStalls);
}

/** The stalls of several processes, one after the other, as a histogram. */
export function stallFigures(of: readonly LoopStalls[]): Figure[] {
  return [
    {
      name: 'fleet: longest stall of the event loop',
      value: Math.max(...of.map(({ longestMs }) => longestMs)),
      unit: 'ms',
      goal: { atMost: 200 },
    },
    ...bounds.map((least, index): Figure => {
      const most = bounds[index + 1];
      return {
        name: `fleet: stalls of ${least} ms ${most === undefined ? 'and more' : `to ${most} ms`}`,
        value: of.reduce((sum, { counts }) => sum + (counts[index] ?? 0), 0),
        unit: 'stalls',
      };
    }),
  ];
}
