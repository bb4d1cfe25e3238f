/** The source of time, which tests control. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds since an arbitrary moment. Unlike `now`, it never jumps when the time of the machine is set. */
  elapsed(): number;
  /** Why its time cannot be trusted, as a sentence; undefined if it can. @default it always can */
  fault?(): string | undefined;
  /** Calls back once after the delay, and returns a function that cancels it. */
  setTimer(delayMs: number, callback: () => void): () => void;
}

/** setTimeout fires immediately for delays above this limit (2^31-1 ms, 24.8 days). */
const longestTimerMs = 2_147_483_647;

/** The clock of the machine. Delays beyond 24.8 days are split. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  setTimer: (delayMs, callback) => {
    let timer: NodeJS.Timeout;
    const wait = (remainingMs: number): void => {
      const stageMs = Math.min(remainingMs, longestTimerMs);
      timer = setTimeout(() => (remainingMs > stageMs ? wait(remainingMs - stageMs) : callback()), stageMs);
    };
    wait(Math.max(0, delayMs));
    return () => clearTimeout(timer);
  },
};

/** Resolves after the delay or as soon as the signal aborts, whichever is first. Never rejects. */
export function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      cancel();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const cancel = clock.setTimer(delayMs, done);
    signal.addEventListener('abort', done);
  });
}

/** A number in [0, 1), like Math.random. */
export type Random = () => number;

/** The duration with ±20 % jitter, so that clients that failed together do not retry together. */
export function jittered(durationMs: number, random: Random): number {
  return durationMs * (0.8 + 0.4 * random());
}
