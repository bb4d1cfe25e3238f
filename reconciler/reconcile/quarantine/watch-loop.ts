import { Worker } from 'node:worker_threads';
import type { WatchdogData } from './watchdog.ts';

/** A third of the time after which another instance takes the Lease, and much longer than any collection of garbage. */
const longestStillMs = 10_000;

/** The process begins its work in any case. */
const startsInMs = 5_000;

/** Of its own heap. Node's compiler of TypeScript, which runs there without a bundle, needs most of it. */
const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 1, stackSizeMb: 1 };

/**
 * Starts the thread that ends the process when its event loop stands still. Resolves when it does.
 * @param onError called if it ends
 */
export async function watchLoop(onError: (error: unknown) => void, limitMs = longestStillMs): Promise<void> {
  const tickMs = Math.min(1_000, limitMs / 4);
  const beats = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  setInterval(() => Atomics.add(beats, 0, 1), tickMs / 2).unref();
  const workerData: WatchdogData = { beats, limitMs, tickMs };
  // Beside the bundle it is compiled.
  const program = new URL(`./watchdog${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);
  const worker = new Worker(program, { workerData, resourceLimits, env: {}, execArgv: [] });
  worker.once('error', onError);
  await Atomics.waitAsync(beats, 1, 0, startsInMs).value;
  worker.unref();
}
