/** A pseudo-random sequence that is the same for the same seed. */
export class Random {
  readonly seed: number;
  #state: number;

  constructor(seed: number) {
    this.seed = seed;
    this.#state = seed >>> 0;
  }

  /** From 0 to 1. Mulberry32: small, and good enough for choosing times. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  between(low: number, high: number): number {
    return low + (high - low) * this.next();
  }

  /** A whole number from `low` up to, and without, `high`. */
  integer(low: number, high: number): number {
    return Math.floor(this.between(low, high));
  }

  happens(probability: number): boolean {
    return this.next() < probability;
  }
}
