/** Time as everything here sees it, so that tests decide when it passes. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls back once after the delay and returns what cancels it. */
  setTimer(delayMs: number, callback: () => void): () => void;
}

/** setTimeout fires at once for anything longer than this (2^31-1 ms, 24.8 days). */
const longestTimerMs = 2_147_483_647;

/** The machine's clock. Delays beyond 24.8 days are served in stages. */
export const systemClock: Clock = {
  now: () => Date.now(),
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

/** A number in [0, 1), as Math.random gives it. */
export type Random = () => number;

/** The duration spread by ±20 %, so that many clients that failed together do not come back together. */
export function jittered(durationMs: number, random: Random): number {
  return durationMs * (0.8 + 0.4 * random());
}
