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
  const { what, limitMs, clock, least, stalled } = options;
  const iterator = source[Symbol.asyncIterator]();
  let isPending = false;
  /** How long the source may go on in silence. What it sends earns time, by the least speed. */
  let leftMs = limitMs;
  try {
    for (;;) {
      isPending = true;
      const askedAt = clock.elapsed();
      const result = await nextInTime(iterator, { ...options, limitMs: leftMs, stalled: () => stalled(what, limitMs) });
      isPending = false;
      if (result.done) return;
      if (least) {
        const earnedMs = (least.sizeOf(result.value) / least.bytesPerSecond) * 1000;
        leftMs = Math.min(limitMs, Math.max(0, leftMs - (clock.elapsed() - askedAt)) + earnedMs);
      }
      yield result.value;
    }
  } finally {
    // a generator that is stuck would keep return() waiting for ever
    if (!isPending) await iterator.return?.();
    if (source instanceof Readable) source.destroy();
  }
}

/** The next item of a stream. @throws when it does not come in time, or when the signal aborts: the stream is stuck then, or still busy */
export function nextInTime<T>(iterator: AsyncIterator<T>, options: StallOptions<T>): Promise<IteratorResult<T>> {
  const { what, limitMs, clock, signal, stalled } = options;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const abort = (): void => finish(() => reject(signal?.reason as Error));
    const cancel = clock.setTimer(limitMs, () => finish(() => reject(stalled(what, limitMs))));
    signal?.addEventListener('abort', abort);
    const finish = (settle: () => void): void => {
      cancel();
      signal?.removeEventListener('abort', abort);
      settle();
    };
    iterator.next().then(
      (result) => finish(() => resolve(result)),
      (error: unknown) => finish(() => reject(error)),
    );
  });
}
