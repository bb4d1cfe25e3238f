import type { Clock } from './clock.ts';

/** What an answer of a server says about its clock. */
export interface DatedAnswer {
  /** Its header `Date`, in whole seconds; undefined without one. */
  readonly date: string | undefined;
  /** How long the request took, in milliseconds. */
  readonly tookMs: number;
}

/** Clocks that differ by no more than this agree: far more than NTP leaves, and less than the five minutes that certificates begin early. */
export const toleranceMs = 60_000;

/** Both clocks must have agreed for this long again. API servers whose clocks differ answer in turn. */
const settlingMs = 60_000;

/** The header may have been written at any time of the request. */
const slowestMs = 10_000;

/**
 * The wall clock of this machine, compared with the header `Date` of an API server's answers. The monotonic clock carries the
 * last comparison on, so that a jump is seen before the next answer.
 *
 * While they disagree, one of them is wrong, and nothing shows which: {@link now} goes on from the time at which both agreed last;
 * before that, it is the time of the server, by which everything else in the cluster goes. What cannot be taken back waits.
 */
export class ComparedClock implements Clock {
  readonly #clock: Clock;
  readonly #onChange: (fault: string | undefined) => void;
  /** How far the server's clock is ahead of the monotonic one; undefined before the first answer with a date. */
  #server: number | undefined;
  /** The same of the time that both clocks agreed upon last. */
  #agreed: number | undefined;
  /** By the monotonic clock. */
  #disagreedAt: number | undefined;

  /** @param onChange called when the clocks begin to disagree, and when they have agreed for a minute again */
  constructor(clock: Clock, onChange: (fault: string | undefined) => void = () => {}) {
    this.#clock = clock;
    this.#onChange = onChange;
  }

  /** Takes the date of an answer that has just arrived. */
  take({ date, tookMs }: DatedAnswer): void {
    const parsed = date === undefined ? NaN : Date.parse(date);
    if (Number.isNaN(parsed) || tookMs > slowestMs) return;
    // Half of a second was cut off on average, and half of the request was the way back.
    this.#server = parsed + 500 - (this.#clock.elapsed() - tookMs / 2);
    this.#compare();
  }

  now(): number {
    const base = this.#compare() ? (this.#agreed ?? this.#server) : undefined;
    return base === undefined ? this.#clock.now() : Math.round(base + this.#clock.elapsed());
  }

  elapsed(): number {
    return this.#clock.elapsed();
  }

  setTimer(delayMs: number, callback: () => void): () => void {
    return this.#clock.setTimer(delayMs, callback);
  }

  /** How far this machine's wall clock is ahead, in milliseconds; undefined before the first answer with a date. */
  get offsetMs(): number | undefined {
    return this.#server === undefined ? undefined : this.#clock.now() - this.#clock.elapsed() - this.#server;
  }

  /** Why nothing may be done that depends on the time, as a sentence; undefined while the clocks agree, or without a comparison. */
  fault(): string | undefined {
    return this.#compare() ? this.#sentence() : undefined;
  }

  /** Whether the clocks disagree. */
  #compare(): boolean {
    const offset = this.offsetMs;
    if (offset === undefined) return false;
    const elapsed = this.#clock.elapsed();
    const before = this.#disagreedAt;
    if (Math.abs(offset) > toleranceMs) this.#disagreedAt = elapsed;
    else if (before !== undefined && elapsed - before >= settlingMs) this.#disagreedAt = undefined;
    const isWrong = this.#disagreedAt !== undefined;
    if (!isWrong) this.#agreed = this.#clock.now() - elapsed;
    if (isWrong !== (before !== undefined)) this.#onChange(isWrong ? this.#sentence() : undefined);
    return isWrong;
  }

  #sentence(): string {
    const offset = this.offsetMs ?? 0;
    const how =
      Math.abs(offset) > toleranceMs
        ? `${spanOf(Math.abs(offset))} ${offset > 0 ? 'ahead of' : 'behind'}`
        : 'within a minute again of';
    return `the clock of the operator's node is ${how} the clock of the management API server`;
  }
}

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** Roughly: the text is in conditions, which are written when it changes. */
function spanOf(ms: number): string {
  const [unit, length] = units.find(([, least]) => ms >= 2 * least) ?? (['minute', 60_000] as const);
  const count = Math.round(ms / length);
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
