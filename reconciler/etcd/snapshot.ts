import { Readable } from 'node:stream';
import type { Etcd3 } from 'etcd3';
import { systemClock } from '../kube/clock.ts';
import { messageOf } from '../kube/error-message.ts';
import { withStallTimer } from '../kube/stall.ts';

/** How long etcd may be silent: it waits for its own transaction first, and a full disk queue delays reads by seconds. */
const silenceMs = 30_000;

/** What a message of the stream holds, besides what is not read here. */
interface SnapshotMessage {
  readonly blob: Buffer;
}

/** The stream as it really is; etcd3 tells only its events. */
type SnapshotStream = Readable & { cancel(): void };

/**
 * The whole database of the member behind the client, as etcd sends it: with the hash at the end that etcdutl checks. One
 * message is asked for after the other, so that memory does not grow when the reader is slow. Reading that ends early
 * ends the call. The client is used up: etcd3 drops its connections when the stream fails.
 * @throws a sentence that begins with `what`, when the member is silent for half a minute or the stream breaks
 */
export async function* readSnapshot(etcd: Etcd3, what: string, signal?: AbortSignal): AsyncGenerator<Buffer> {
  const stream = streamOf(await etcd.maintenance.snapshot());
  const messages = withStallTimer<SnapshotMessage>(stream, {
    what,
    limitMs: silenceMs,
    clock: systemClock,
    signal,
    stalled: () => new Error(`${what}: etcd has sent nothing for ${silenceMs / 1000} s`),
  });
  try {
    for await (const { blob } of messages) yield blob;
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof Error && cause.message.startsWith(what)) throw cause;
    throw new Error(`${what}: ${messageOf(cause)}`, { cause });
  } finally {
    // A stream that is only destroyed leaves the call open, and etcd's transaction with it.
    stream.cancel();
  }
}

function streamOf(given: object): SnapshotStream {
  if (!(given instanceof Readable) || !('cancel' in given)) throw new Error('etcd3 gives no stream that can be ended');
  // The cancellation that ends a call is reported as an error when nobody reads any more.
  given.on('error', () => {});
  return given as SnapshotStream;
}
