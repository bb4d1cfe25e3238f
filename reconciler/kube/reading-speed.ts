import { setTimeout as rest } from 'node:timers/promises';

/** How fast streams of one server are read. */
export interface SpeedLimit {
  /** What is read without any delay, after a rest. */
  readonly burstBytes: number;
  readonly bytesPerSecond: number;
}

/**
 * Limits how fast several streams together are read, so that a server that sends events without end takes only a small
 * share of the processor. What is not read yet stays with the server.
 */
export class ReadingSpeed {
  readonly #limit: SpeedLimit;
  /** The time, as performance.now, until which everything that was read so far lasts at the limited speed. */
  #spentUntil = -Infinity;

  constructor(limit: SpeedLimit) {
    this.#limit = limit;
  }

  /** Counts what one of the streams has read. Resolves as soon as the limit allows to read on; rejects when the signal aborts. */
  async spend(bytes: number, signal: AbortSignal): Promise<void> {
    const restMs = this.#spend(bytes);
    if (restMs > 0) await rest(restMs, undefined, { signal });
  }

  #spend(bytes: number): number {
    const { burstBytes, bytesPerSecond } = this.#limit;
    const now = performance.now();
    this.#spentUntil = Math.max(now, this.#spentUntil) + (bytes / bytesPerSecond) * 1000;
    return this.#spentUntil - now - (burstBytes / bytesPerSecond) * 1000;
  }
}
