import { Readable } from 'node:stream';
import { systemClock } from '../kube/clock.ts';
import { messageOf } from '../kube/error-message.ts';
import { leastBytesPerSecond, withStallTimer } from '../kube/stall.ts';
import { type EtcdCredentials, type MemberEndpoint, TrustingEtcd3 } from './etcd3-client.ts';

/**
 * How long etcd may send nothing: it first waits for its own transaction, and a full disk queue delays reads by
 * seconds.
 */
const silenceMs = 30_000;

/** A message of the stream, without fields that are not used here. */
interface SnapshotMessage {
  readonly blob: Buffer;
  /** How much of the database comes after it. The hash at the end does not count. */
  readonly remaining_bytes: string;
}

/** The actual stream. The type of etcd3 only declares its events. */
type SnapshotStream = Readable & { cancel(): void };

/** All that a call to a member needs: another thread can make it. */
export interface MemberPlace {
  readonly endpoint: MemberEndpoint;
  readonly credentials: EtcdCredentials;
}

/** A database to read: a member, which any thread can call, or a stream of this thread. */
export type DatabaseSource = MemberPlace | AsyncIterable<Uint8Array>;

/**
 * The whole database of a member, as etcd sends it, with the hash at the end that etcdutl verifies. It requests one message after the
 * other, so that memory does not grow with a slow reader. If the reader stops early, the call ends. It has a client of its own:
 * etcd3 drops its connections when the stream fails.
 * @throws a sentence that names the member, if etcd sends less than the least speed for half a minute or the stream breaks
 */
export async function* readSnapshot(
  { endpoint, credentials }: MemberPlace,
  signal: AbortSignal | undefined,
): AsyncGenerator<SnapshotMessage> {
  const what = `cannot read the snapshot of etcd member ${endpoint.name}`;
  const etcd = new TrustingEtcd3(endpoint, credentials);
  try {
    const stream = streamOf(await etcd.maintenance.snapshot());
    try {
      yield* withStallTimer<SnapshotMessage>(stream, {
        what,
        limitMs: silenceMs,
        least: { bytesPerSecond: leastBytesPerSecond, sizeOf: ({ blob }) => blob.length },
        clock: systemClock,
        signal,
        stalled: () => new Error(`${what}: etcd has sent nothing, or next to nothing, for ${silenceMs / 1000} s`),
      });
    } catch (cause) {
      signal?.throwIfAborted();
      if (cause instanceof Error && cause.message.startsWith(what)) throw cause;
      throw new Error(`${what}: ${messageOf(cause)}`, { cause });
    } finally {
      // Destroying the stream alone leaves the call open, and etcd's transaction with it.
      stream.cancel();
    }
  } finally {
    etcd.close();
  }
}

/** Bytes of the hash that follows the database. */
const hashBytes = 32;

/** How many bytes the whole stream has that begins with this message. */
export function announcedBytes({ blob, remaining_bytes: remaining }: SnapshotMessage): number {
  return blob.length + Number(remaining) + hashBytes;
}

function streamOf(given: object): SnapshotStream {
  if (!(given instanceof Readable) || !('cancel' in given)) throw new Error('the stream of etcd3 cannot be canceled');
  // The cancellation that ends a call is reported as an error when there is no reader any more.
  given.on('error', () => {});
  return given as SnapshotStream;
}
