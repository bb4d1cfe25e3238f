import { request } from 'node:https';
import { finished, pipeline } from 'node:stream/promises';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { limitedText } from '../store/answer-limit.ts';
import { stalledError } from '../store/store-error.ts';
import { leastBytesPerSecond, leastSpeed, withStallTimer } from '../../kube/stall.ts';
import type { EtcdCredentials } from '../../etcd/etcd3-client.ts';
import type { Clock } from '../../kube/clock.ts';
import { messageOf } from '../../kube/error-message.ts';

/** A pod that waits for a snapshot. */
export interface Receiver {
  /** Address of the pod. */
  readonly address: string;
  readonly port: number;
  /** Name for which its certificate must be valid: that of the member whose volume the pod mounts. */
  readonly serverName: string;
}

interface PushOptions {
  readonly sizeBytes: number;
  readonly credentials: EtcdCredentials;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called with the number of bytes sent, in all and just now. */
  readonly onProgress?: (bytes: number, chunkBytes: number) => void;
}

/** Longest time without progress of the receiver or the source. */
const stallMs = 60_000;

/** A pod that takes a byte now and then makes progress. The pod verifies and stores what it has received in ten minutes. */
function longestMs(sizeBytes: number): number {
  return Math.min(24 * 3_600_000, Math.ceil(sizeBytes / leastBytesPerSecond) * 1000 + 10 * 60_000);
}

/**
 * Sends a snapshot to a pod. Resolves when the pod has verified and stored it.
 * @throws when the pod refuses it, when there is no progress for a minute, and errors of the source; the pod then keeps
 * nothing
 */
export async function pushSnapshot(
  receiver: Receiver,
  snapshot: AsyncIterable<Uint8Array>,
  options: PushOptions,
): Promise<void> {
  const controller = new AbortController();
  const signal = AbortSignal.any([
    options.signal,
    controller.signal,
    AbortSignal.timeout(longestMs(options.sizeBytes)),
  ]);
  const upload = request({
    host: receiver.address,
    port: receiver.port,
    servername: receiver.serverName,
    ...options.credentials,
    // A CA certificate that an issuer has signed is trusted without the issuer's certificate.
    allowPartialTrustChain: true,
    method: 'PUT',
    path: '/snapshot',
    headers: { 'content-length': options.sizeBytes },
    timeout: stallMs,
    agent: false,
    signal,
  });
  upload.on('timeout', () => upload.destroy(new Error(`no progress for ${stallMs / 1000} s`)));
  const answered = answerOf(upload);
  // The answer may arrive before the last byte is sent, or never. The first failure is thrown.
  answered.catch(() => {});
  try {
    await Promise.race([send(snapshot, upload, { ...options, signal }), answered.then(refuse)]);
    refuse(await answered);
  } catch (cause) {
    throw new Error(`cannot send the snapshot to ${receiver.serverName} at ${receiver.address}: ${messageOf(cause)}`, {
      cause,
    });
  } finally {
    // Ends the source and the connection after a refusal.
    controller.abort(new Error('the upload has ended'));
  }
}

interface Answer {
  readonly status: number;
  readonly message: string;
}

function answerOf(upload: ClientRequest): Promise<Answer> {
  return new Promise((resolve, reject) => {
    upload.once('error', reject);
    upload.once('response', (response: IncomingMessage) => {
      limitedText(response).then(
        (message) => resolve({ status: response.statusCode ?? 0, message: message.trim() }),
        reject,
      );
    });
  });
}

function refuse({ status, message }: Answer): void {
  if (status !== 201) throw new Error(`the pod refused it with status ${status}: ${message}`);
}

async function send(
  snapshot: AsyncIterable<Uint8Array>,
  upload: ClientRequest,
  { clock, signal, onProgress }: PushOptions,
): Promise<void> {
  const source = withStallTimer(snapshot, {
    what: 'read the backup',
    limitMs: stallMs,
    least: leastSpeed,
    clock,
    signal,
    stalled: stalledError,
  });
  await pipeline(counted(source, onProgress), upload, { end: true, signal });
  await finished(upload, { readable: false, signal });
}

async function* counted(
  source: AsyncIterable<Uint8Array>,
  onProgress: (bytes: number, chunkBytes: number) => void = () => {},
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of source) {
    yield chunk;
    bytes += chunk.length;
    onProgress(bytes, chunk.length);
  }
}
