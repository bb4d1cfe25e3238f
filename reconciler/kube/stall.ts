import { Readable } from 'node:stream';
import type { Clock } from './clock.ts';

/** When a stream counts as stuck. */
export interface StallOptions<T = unknown> {
  /** What the stream is, for the error: `read the log of a pod`. */
  readonly what: string;
  /** Longest time without a chunk. */
  readonly limitMs: number;
  /** Least speed of the source while it is waited for. @default any: only silence ends the stream */
  readonly least?: { readonly bytesPerSecond: number; readonly sizeOf: (item: T) => number } | undefined;
  readonly clock: Clock;
  /** Ends the stream with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Makes the error of a stream that is stuck. */
  readonly stalled: (what: string, limitMs: number) => Error;
}

/** Least speed of everything that moves a database: 8 GiB would take 36 hours. */
export const leastBytesPerSecond = 64 << 10;

/** Of chunks of bytes. */
export const leastSpeed = { bytesPerSecond: leastBytesPerSecond, sizeOf: (chunk: Uint8Array) => chunk.length };

/**
 * The same stream, which fails when nothing comes for too long, when what comes is too little for too long, or when the signal
 * aborts. Time in which the reader does not ask does not count. A Node stream behind it is destroyed when the reading ends early.
 */
export async function* withStallTimer<T>(source: AsyncIterable<T>, options: StallOptions<T>): AsyncGenerator<T> {
  const iterator = source[Symbol.asyncIterator]();
  const timer = new StallTimer(options);
  try {
    for (;;) {
      const result = await timer.next(iterator);
      if (result.done) return;
      yield result.value;
    }
  } finally {
    timer.end();
    // a generator that is stuck would keep return() waiting for ever
    if (!timer.isWaiting) await iterator.return?.();
    if (source instanceof Readable) source.destroy();
  }
}

/** The timer of one stream. It is set again when it fires, and not for each item: a database has thousands for each second. */
export class StallTimer<T> {
  readonly #options: StallOptions<T>;
  readonly #abort = (): void => this.#fail?.(this.#options.signal?.reason);
  /** How long the other side may go on in silence. What it moves earns time, by the least speed. */
  #leftMs: number;
  #since = 0;
  #fail: ((reason: unknown) => void) | undefined;
  #cancel: (() => void) | undefined;

  constructor(options: StallOptions<T>) {
    this.#options = options;
    this.#leftMs = options.limitMs;
    options.signal?.addEventListener('abort', this.#abort);
  }

  /** Nothing has come since the last wait: the other side is stuck, or still busy. */
  get isWaiting(): boolean {
    return this.#fail !== undefined;
  }

  /** Time counts from now on. @param fail is called when nothing comes in time, or when the signal aborts */
  wait(fail: (reason: unknown) => void): void {
    const { signal, clock } = this.#options;
    this.#fail = fail;
    this.#since = clock.elapsed();
    if (signal?.aborted) this.#abort();
    else this.#cancel ??= clock.setTimer(this.#leftMs, () => this.#check());
  }

  came(item: T): void {
    const { least, limitMs, clock } = this.#options;
    this.#fail = undefined;
    if (!least) return;
    const earnedMs = (least.sizeOf(item) / least.bytesPerSecond) * 1000;
    this.#leftMs = Math.min(limitMs, Math.max(0, this.#leftMs - (clock.elapsed() - this.#since)) + earnedMs);
  }

  /** The next item of a stream. @throws when it does not come in time, or when the signal aborts */
  next(iterator: AsyncIterator<T>): Promise<IteratorResult<T>> {
    return new Promise((resolve, reject) => {
      this.wait(reject);
      if (this.#options.signal?.aborted) return;
      iterator.next().then((result) => {
        if (result.done) this.#fail = undefined;
        else this.came(result.value);
        resolve(result);
      }, reject);
    });
  }

  end(): void {
    this.#cancel?.();
    this.#options.signal?.removeEventListener('abort', this.#abort);
  }

  /** The time left only shrinks while it waits, so that the timer is never late. */
  #check(): void {
    const { what, limitMs, clock, stalled } = this.#options;
    this.#cancel = undefined;
    if (!this.#fail) return;
    const restMs = this.#leftMs - (clock.elapsed() - this.#since);
    if (restMs > 0) this.#cancel = clock.setTimer(restMs, () => this.#check());
    else this.#fail(stalled(what, limitMs));
  }
}
