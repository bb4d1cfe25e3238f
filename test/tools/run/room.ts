import { readdir, readFile, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { withLock } from '../testbed/lock.ts';
import { savedProcess, saveProcess } from '../testbed/process-record.ts';

/**
 * Threads per processor that want to run, above which another file waits, by the number of files that run: now, and on
 * average over the last minute, as a file that has just begun has no control planes yet. On an overloaded machine API servers do not
 * reach their etcd in time, end, and start again. With more than three files everything is slower, and nothing earlier.
 */
const fullAt = [Infinity, 10, 5] as const;
/** Long enough to see what the file before has started. */
const windowMs = 2_000;
const sampleMs = 250;
/** Longer than any file takes: only one that never ends makes another wait so long. */
const longestMs = 1_800_000;
/** Names the processes that run a file. */
const runningDirectory = join(tmpdir(), 'hosted-control-plane-test-files');

/** What it takes to watch the load of a machine. */
export interface Machine {
  readonly processors: number;
  /** The number of threads that run or want to. */
  readonly runnable: () => Promise<{ readonly now: number; readonly lastMinute: number }>;
  /** How many other processes run a file, which ends. */
  readonly others: () => Promise<number>;
  readonly sleep: (ms: number) => Promise<unknown>;
}

const thisMachine: Machine = {
  processors: availableParallelism(),
  // `0.20 0.18 0.12 1/80 11206`: the average of a minute; the fourth field is what wants to run now, of all threads
  runnable: async () => {
    const [lastMinute, , , now = ''] = (await readFile('/proc/loadavg', 'utf8')).split(' ');
    return { now: Number(now.split('/')[0]), lastMinute: Number(lastMinute) };
  },
  others: () => runningFiles(runningDirectory),
  sleep,
};

/** How many other processes run a file, by the records in a directory. That of a killed process does not count. */
export async function runningFiles(directory: string): Promise<number> {
  const names = await readdir(directory).catch(() => []);
  const others = names.filter((name) => /^\d+$/.test(name) && name !== String(process.pid));
  const records = await Promise.all(others.map((name) => savedProcess(join(directory, name))));
  return records.filter((record) => record !== undefined).length;
}

/** Resolves when the processors have room for another file, with the seconds waited. */
export async function untilRoom({ processors, runnable, others, sleep }: Machine = thisMachine): Promise<number> {
  let waitedMs = 0;
  while (waitedMs < longestMs && limitOf(await others()) < Infinity) {
    let sum = 0;
    let lastMinute = 0;
    for (let elapsed = 0; elapsed < windowMs; elapsed += sampleMs) {
      const threads = await runnable();
      sum += threads.now;
      lastMinute = threads.lastMinute;
      await sleep(sampleMs);
    }
    waitedMs += windowMs;
    if (Math.max(sum / (windowMs / sampleMs), lastMinute) <= limitOf(await others()) * processors) break;
  }
  return waitedMs / 1000;
}

const limitOf = (others: number): number => fullAt[others] ?? 0;

/** Lets one file begin at a time, each once there is room for it. Resolves with the seconds waited. */
export async function beginFile(): Promise<number> {
  const start = performance.now();
  await withLock(
    join(tmpdir(), 'hosted-control-plane-test-begins.lock'),
    () => {},
    async () => {
      await untilRoom();
      await countProcess();
    },
  );
  return (performance.now() - start) / 1000;
}

/** Counts this process, from now to its end, as one that runs a file. */
export async function countProcess(): Promise<void> {
  await saveProcess(runningFile(), process.pid);
}

/** Lets other files begin. */
export async function endFile(): Promise<void> {
  await rm(runningFile(), { force: true });
}

const runningFile = () => join(runningDirectory, String(process.pid));
