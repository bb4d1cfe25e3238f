import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { withLock } from '../testbed/lock.ts';

/**
 * Threads per processor that want to run, above which another file would only make those that run slower, by the number of
 * these. The second one begins unless the machine is overloaded, where control planes whose probes go unanswered restart
 * each other. A third one only uses what the two leave idle, while they wait.
 */
const fullAt = [Infinity, 8, 2] as const;
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
  readonly runnable: () => Promise<number>;
  /** How many other processes run a file, which ends. */
  readonly others: () => Promise<number>;
  readonly sleep: (ms: number) => Promise<unknown>;
}

const thisMachine: Machine = {
  processors: availableParallelism(),
  // `0.20 0.18 0.12 1/80 11206`: the fourth field is what wants to run, of all threads
  runnable: async () => Number((await readFile('/proc/loadavg', 'utf8')).split(' ')[3]?.split('/')[0]),
  others,
  sleep,
};

async function others(): Promise<number> {
  const names = await readdir(runningDirectory).catch(() => []);
  return names.map(Number).filter((pid) => pid !== process.pid && isAlive(pid)).length;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/**
 * Resolves when the processors have room for another file, or when no other file runs, with the seconds waited. Where the
 * processors are busy with one file, a second one would only make both slower.
 */
export async function untilRoom({ processors, runnable, others, sleep }: Machine = thisMachine): Promise<number> {
  let waitedMs = 0;
  let running = await others();
  while (waitedMs < longestMs && running > 0) {
    let sum = 0;
    for (let elapsed = 0; elapsed < windowMs; elapsed += sampleMs) {
      sum += await runnable();
      await sleep(sampleMs);
    }
    waitedMs += windowMs;
    running = await others();
    if (sum / (windowMs / sampleMs) <= (fullAt[running] ?? 0) * processors) break;
  }
  return waitedMs / 1000;
}

/** Lets one file begin at a time, each once there is room for it. Resolves with the seconds waited. */
export async function beginFile(): Promise<number> {
  const start = performance.now();
  await withLock(
    join(tmpdir(), 'hosted-control-plane-test-begins.lock'),
    () => {},
    async () => {
      await untilRoom();
      await mkdir(runningDirectory, { recursive: true });
      await writeFile(runningFile(), '');
    },
  );
  return (performance.now() - start) / 1000;
}

/** Lets other files begin. */
export async function endFile(): Promise<void> {
  await rm(runningFile(), { force: true });
}

const runningFile = () => join(runningDirectory, String(process.pid));
