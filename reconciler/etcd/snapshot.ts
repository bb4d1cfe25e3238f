import { Readable } from 'node:stream';
import type { Etcd3 } from 'etcd3';
import { systemClock } from '../kube/clock.ts';
import { messageOf } from '../kube/error-message.ts';
import { leastBytesPerSecond, withStallTimer } from '../kube/stall.ts';

/**
 * How long etcd may send nothing: it first waits for its own transaction, and a full disk queue delays reads by
 * seconds.
 */
const silenceMs = 30_000;

/** A message of the stream, without fields that are not used here. */
interface SnapshotMessage {
  readonly blob: Buffer;
}

/** The actual stream. The type of etcd3 only declares its events. */
type SnapshotStream = Readable & { cancel(): void };

/**
 * The whole database of the client's member, as etcd sends it, with the hash at the end that etcdutl verifies. It
 * requests one message after the other, so that memory does not grow with a slow reader. If the reader stops early, the
 * call ends. The client cannot be reused: etcd3 drops its connections when the stream fails.
 * @throws a sentence that begins with `what`, if etcd sends less than the least speed for half a minute or the stream breaks
 */
export async function* readSnapshot(etcd: Etcd3, what: string, signal?: AbortSignal): AsyncGenerator<Buffer> {
  const stream = streamOf(await etcd.maintenance.snapshot());
  const messages = withStallTimer<SnapshotMessage>(stream, {
    what,
    limitMs: silenceMs,
    least: { bytesPerSecond: leastBytesPerSecond, sizeOf: ({ blob }) => blob.length },
    clock: systemClock,
    signal,
    stalled: () => new Error(`${what}: etcd has sent nothing, or next to nothing, for ${silenceMs / 1000} s`),
  });
  try {
    for await (const { blob } of messages) yield blob;
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof Error && cause.message.startsWith(what)) throw cause;
    throw new Error(`${what}: ${messageOf(cause)}`, { cause });
  } finally {
    // Destroying the stream alone leaves the call open, and etcd's transaction with it.
    stream.cancel();
  }
}

function streamOf(given: object): SnapshotStream {
  if (!(given instanceof Readable) || !('cancel' in given)) throw new Error('the stream of etcd3 cannot be canceled');
  // The cancellation that ends a call is reported as an error when there is no reader any more.
  given.on('error', () => {});
  return given as SnapshotStream;
}
