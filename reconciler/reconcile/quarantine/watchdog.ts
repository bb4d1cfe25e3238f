/**
 * A thread that ends its process when the event loop stands still. It counts its own turns, not the time: a process that was frozen, or a
 * machine that slept, has missed both.
 */
import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';

/** What the main thread hands over. */
export interface WatchdogData {
  /** The first grows as long as the event loop turns; the second is 1 once the thread counts. */
  readonly beats: Int32Array;
  readonly limitMs: number;
  readonly tickMs: number;
}

const { beats, limitMs, tickMs } = workerData as WatchdogData;
let last = -1;
let stillMs = 0;
setInterval(() => {
  const now = Atomics.load(beats, 0);
  stillMs = now === last ? stillMs + tickMs : 0;
  last = now;
  if (stillMs < limitMs) return;
  const msg = `the event loop has stood still for ${limitMs / 1000} s: the process ends, to be started again`;
  // No stream: their chunks go through the main thread.
  writeSync(2, `${JSON.stringify({ level: 'error', time: new Date().toISOString(), msg })}\n`);
  process.kill(process.pid, 'SIGKILL');
}, tickMs);
// Until it counts, it detects nothing.
Atomics.store(beats, 1, 1);
Atomics.notify(beats, 1);
