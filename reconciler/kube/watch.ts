import type { Clock } from './clock.ts';
import { errorFromStatus, type Status } from './errors.ts';
import { withoutNulls } from './missing-values.ts';
import type { KubeObject } from './object.ts';
import { actionOf, answerRefused, answerTooLarge, type KubeRequest, SilenceError, type Stream } from './request.ts';
import { StallTimer, type StallOptions } from './stall.ts';
import type { Transport } from './transport.ts';
import { ValueCounter } from './value-counter.ts';

/**
 * A watch on which no byte has arrived for so long ends, whatever its connection looks like. API servers send a bookmark each minute. One
 * that has just started sends none of a kind until an object of it changes, or until its etcd reports progress.
 */
export const longestSilenceMs = 150_000;

/** An event of a watch. An ERROR event is thrown as KubeError instead. */
export type WatchEvent<T extends KubeObject = KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string };

/** When a watch counts as silent, and the time by which it is measured. */
export interface Silence {
  readonly clock: Clock;
  readonly limitMs: number;
}

/** Events of one watch request. Returns when the server ends it, and throws otherwise. */
export async function* readWatch<T extends KubeObject>(
  transport: Transport,
  call: KubeRequest,
  silence: Silence,
): AsyncGenerator<WatchEvent<T>, void> {
  const stream = await transport.stream(call);
  const lines = readLines(call, stream, stallOf(silence, call.signal));
  try {
    for (;;) {
      const next = await lines.next().catch((cause: unknown) => {
        throw stream.failed(cause);
      });
      if (next.done) return;
      yield parseEvent<T>(call, next.value);
    }
  } finally {
    await lines.return(undefined);
    stream.release();
  }
}

/** A stream of a watch counts as stuck when it is silent: the error is a SilenceError. */
export function stallOf(silence: Silence, signal: AbortSignal | undefined): StallOptions {
  const stalled = (_: string, ms: number) => new SilenceError(`nothing has arrived for ${ms / 1000} s`);
  return { what: 'watch', ...silence, stalled, ...(signal && { signal }) };
}

/** One line of the response. */
type Line<T> =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T }
  | { type: 'BOOKMARK'; object: { metadata: { resourceVersion: string } } }
  | { type: 'ERROR'; object: Status };

function parseEvent<T extends KubeObject>(call: KubeRequest, text: string): WatchEvent<T> {
  const line: Line<T> = JSON.parse(text);
  if (line.type === 'ERROR') throw errorFromStatus(actionOf(call), line.object.code ?? 500, line.object);
  if (line.type !== 'BOOKMARK') return { type: line.type, object: withoutNulls(line.object, text) };
  return { type: 'BOOKMARK', resourceVersion: line.object.metadata.resourceVersion };
}

async function* readLines(
  call: KubeRequest,
  { body, spend, arrived, maxBytes, values, held }: Stream,
  stall: StallOptions,
): AsyncGenerator<string, void> {
  const counter = new ValueCounter(values, (why) => answerRefused(call, why));
  const lines = new Lines(() => answerTooLarge(call, maxBytes), maxBytes, counter);
  const chunks = body[Symbol.asyncIterator]();
  // Not `for await`: a generator keeps its variables while it waits, and each chunk is a part of a buffer of many KiB.
  const timer = new StallTimer<Buffer>(stall);
  const next = async () => {
    const { done, value } = await timer.next(chunks);
    arrived();
    return done ? undefined : { ...lines.take(value), bytes: value.length };
  };
  try {
    for (let read = await next(); read; read = await next()) {
      yield* read.complete;
      await held.hold(lines.pendingBytes);
      await spend(read);
    }
  } finally {
    held.release();
    timer.end();
    // It would wait for a chunk that never comes.
    if (timer.isWaiting) body.destroy?.();
    else await chunks.return?.();
  }
}

/** Splits chunks into lines. Objects may have a megabyte and arrive in chunks of 16 KiB: each line is joined once. */
class Lines {
  readonly #tooLong: () => Error;
  readonly #maxBytes: number;
  readonly #counter: ValueCounter;
  #pending: Buffer[] = [];
  #bytes = 0;

  constructor(tooLong: () => Error, maxBytes: number, counter: ValueCounter) {
    this.#tooLong = tooLong;
    this.#maxBytes = maxBytes;
    this.#counter = counter;
  }

  /** Of the line that is not complete yet. */
  get pendingBytes(): number {
    return this.#bytes;
  }

  /** The lines that the chunk completes, without empty ones. @throws when one is too long or has too many values */
  take(chunk: Buffer): { readonly complete: readonly string[]; readonly values: number } {
    const complete: string[] = [];
    let values = 0;
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      values += this.#counter.take(chunk.subarray(start, end));
      this.#counter.reset();
      const line = Buffer.concat([...this.#pending, chunk.subarray(start, end)]).toString('utf8');
      if (line.length > 0) complete.push(line);
      this.#pending = [];
      this.#bytes = 0;
      start = end + 1;
    }
    this.#bytes += chunk.length - start;
    if (this.#bytes > this.#maxBytes) throw this.#tooLong();
    values += this.#counter.take(chunk.subarray(start));
    if (start < chunk.length) this.#pending.push(chunk.subarray(start));
    return { complete, values };
  }
}
