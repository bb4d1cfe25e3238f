import { setTimeout as rest } from 'node:timers/promises';

/** A value of JSON takes as long to read as so many bytes of a text. */
const bytesOfValue = 16;

/** How fast answers and streams of one server are read. */
export interface SpeedLimit {
  /** What is read without any delay, after a rest. */
  readonly burstBytes: number;
  readonly bytesPerSecond: number;
}

/** What was read of an answer or stream. */
export interface ReadPart {
  readonly bytes: number;
  /** Values of JSON in it. */
  readonly values: number;
}

/**
 * Limits how fast all answers and streams of one server together are read, so that a server that sends without end takes only a small
 * share of the processor. What is not read yet stays with the server.
 */
export class ReadingSpeed {
  readonly #limit: SpeedLimit;
  /** The time, as performance.now, until which everything that was read so far lasts at the limited speed. */
  #spentUntil = -Infinity;

  constructor(limit: SpeedLimit) {
    this.#limit = limit;
  }

  /** Counts what was read. Resolves as soon as the limit allows to read on; rejects when the signal aborts. */
  async spend({ bytes, values }: ReadPart, signal: AbortSignal): Promise<void> {
    const restMs = this.#spend(bytes + values * bytesOfValue);
    if (restMs > 0) await rest(restMs, undefined, { signal });
  }

  #spend(bytes: number): number {
    const { burstBytes, bytesPerSecond } = this.#limit;
    const now = performance.now();
    this.#spentUntil = Math.max(now, this.#spentUntil) + (bytes / bytesPerSecond) * 1000;
    return this.#spentUntil - now - (burstBytes / bytesPerSecond) * 1000;
  }
}
