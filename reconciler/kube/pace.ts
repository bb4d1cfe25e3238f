import type { Clock } from './clock.ts';

/** A limit for runs of one key. */
export interface PaceOptions {
  /** Number of runs without any delay, after a rest of `burst` intervals. */
  readonly burst: number;
  /** Interval of the runs that follow, in milliseconds. */
  readonly intervalMs: number;
}

/** Limits how often each key runs. */
export class Pace {
  readonly #options: PaceOptions;
  readonly #clock: Pick<Clock, 'elapsed'>;
  /** The time until which the runs of a key so far last, at one run per interval. */
  readonly #spentUntil = new Map<string, number>();

  constructor(options: PaceOptions, clock: Pick<Clock, 'elapsed'>) {
    this.#options = options;
    this.#clock = clock;
  }

  /** How long the next run of the key has to wait, in milliseconds. */
  delayMs(key: string): number {
    const { burst, intervalMs } = this.#options;
    const spentMs = (this.#spentUntil.get(key) ?? -Infinity) - this.#clock.elapsed();
    return Math.max(0, spentMs - (burst - 1) * intervalMs);
  }

  /** Counts a run of the key. Runs that did not wait, for another reason, keep the next one waiting for one interval at most. */
  count(key: string): void {
    const { burst, intervalMs } = this.#options;
    const now = this.#clock.elapsed();
    const spentUntil = this.#spentUntil.get(key);
    if (spentUntil === undefined) this.#forgetRested(now);
    this.#spentUntil.set(key, Math.min(Math.max(now, spentUntil ?? now) + intervalMs, now + burst * intervalMs));
  }

  #forgetRested(now: number): void {
    for (const [key, spentUntil] of this.#spentUntil) if (spentUntil <= now) this.#spentUntil.delete(key);
  }
}
