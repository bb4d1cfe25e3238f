import type { Clock } from '../../kube/clock.ts';

/** How many keys are reported at a time, and how long the next ones wait. */
const wave = { keys: 25, everyMs: 1_000 };

/** Reports many keys a few at a time, so that one change does not write to all control planes at once. */
export class Waves {
  readonly #clock: Pick<Clock, 'setTimer'>;
  readonly #report: (key: string) => void;
  readonly #waiting = new Set<string>();
  #cancelTimer: (() => void) | undefined;

  constructor(clock: Pick<Clock, 'setTimer'>, report: (key: string) => void) {
    this.#clock = clock;
    this.#report = report;
  }

  /** Reports these keys, the first ones at once. One that waits already is reported once. */
  add(keys: readonly string[]): void {
    for (const key of keys) this.#waiting.add(key);
    if (this.#cancelTimer === undefined) this.#next();
  }

  stop(): void {
    this.#cancelTimer?.();
    this.#waiting.clear();
  }

  #next(): void {
    this.#cancelTimer = undefined;
    const keys = [...this.#waiting].slice(0, wave.keys);
    for (const key of keys) {
      this.#waiting.delete(key);
      this.#report(key);
    }
    if (keys.length > 0) this.#cancelTimer = this.#clock.setTimer(wave.everyMs, () => this.#next());
  }
}
