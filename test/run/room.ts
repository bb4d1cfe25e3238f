import { readFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { withLock } from '../testbed/lock.ts';

/**
 * Threads per processor that want to run, above which another file would only make those that run slower: the processors are
 * busy without it, and control planes whose probes go unanswered restart each other.
 */
const fullAt = 8;
/** Long enough to see what the file before has started. */
const windowMs = 3_000;
const sampleMs = 250;
/** The load may be that of other programs, which do not end. */
const longestMs = 120_000;

/** What it takes to watch the load of a machine. */
export interface Machine {
  readonly processors: number;
  /** The number of threads that run or want to. */
  readonly runnable: () => Promise<number>;
  readonly sleep: (ms: number) => Promise<unknown>;
}

const thisMachine: Machine = {
  processors: availableParallelism(),
  // `0.20 0.18 0.12 1/80 11206`: the fourth field is what wants to run, of all threads
  runnable: async () => Number((await readFile('/proc/loadavg', 'utf8')).split(' ')[3]?.split('/')[0]),
  sleep,
};

/** Resolves when the processors have room for another file, at the latest after two minutes, with the seconds waited. */
export async function untilRoom({ processors, runnable, sleep }: Machine = thisMachine): Promise<number> {
  let waitedMs = 0;
  while (waitedMs < longestMs) {
    let sum = 0;
    for (let elapsed = 0; elapsed < windowMs; elapsed += sampleMs) {
      sum += await runnable();
      await sleep(sampleMs);
    }
    waitedMs += windowMs;
    if (sum / (windowMs / sampleMs) <= fullAt * processors) break;
  }
  return waitedMs / 1000;
}

/** Lets one file begin at a time, each once there is room for it. Resolves with the seconds waited. */
export async function untilTurn(): Promise<number> {
  const start = performance.now();
  await withLock(
    join(tmpdir(), 'hosted-control-plane-test-begins.lock'),
    () => {},
    () => untilRoom(),
  );
  return (performance.now() - start) / 1000;
}
