import { request } from 'node:https';
import { finished, pipeline } from 'node:stream/promises';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { stalledError } from '../backup/store-error.ts';
import { withStallTimer } from '../kube/stall.ts';
import type { EtcdCredentials } from '../etcd/member-endpoint.ts';
import type { Clock } from '../kube/clock.ts';
import { messageOf } from '../kube/error-message.ts';

/** A pod that waits for a snapshot. */
export interface Receiver {
  /** Address of the pod. */
  readonly address: string;
  readonly port: number;
  /** Name that its certificate must be for: that of the member whose volume it has. */
  readonly serverName: string;
}

export interface PushOptions {
  readonly sizeBytes: number;
  readonly credentials: EtcdCredentials;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Hears how many bytes have been taken. */
  readonly onProgress?: (bytes: number) => void;
}

/** Longest time in which the receiver takes nothing, or the source gives nothing. */
const stallMs = 60_000;

/**
 * Sends a snapshot to a pod. Resolves when the pod has checked and kept it.
 * @throws when the pod refuses it, when nothing moves for a minute, and with what the source throws: nothing of it is
 *   kept then
 */
export async function pushSnapshot(
  receiver: Receiver,
  snapshot: AsyncIterable<Uint8Array>,
  options: PushOptions,
): Promise<void> {
  const controller = new AbortController();
  const signal = AbortSignal.any([options.signal, controller.signal]);
  const upload = request({
    host: receiver.address,
    port: receiver.port,
    servername: receiver.serverName,
    ...options.credentials,
    // an authority that an issuer has signed is trusted by itself
    allowPartialTrustChain: true,
    method: 'PUT',
    path: '/snapshot',
    headers: { 'content-length': options.sizeBytes },
    timeout: stallMs,
    agent: false,
    signal,
  });
  upload.on('timeout', () => upload.destroy(new Error(`nothing moved for ${stallMs / 1000} s`)));
  const answered = answerOf(upload);
  // It may come before the last byte went, or never: whoever sees the failure first tells it.
  answered.catch(() => {});
  try {
    await Promise.race([send(snapshot, upload, { ...options, signal }), answered.then(refuse)]);
    refuse(await answered);
  } catch (cause) {
    throw new Error(`send the snapshot to ${receiver.serverName} at ${receiver.address}: ${messageOf(cause)}`, {
      cause,
    });
  } finally {
    // neither the source nor the connection outlives a refusal
    controller.abort(new Error('the upload is over'));
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
      text(response).then((message) => resolve({ status: response.statusCode ?? 0, message: message.trim() }), reject);
    });
  });
}

function refuse({ status, message }: Answer): void {
  if (status !== 201) throw new Error(`it was refused with ${status}: ${message}`);
}

async function send(
  snapshot: AsyncIterable<Uint8Array>,
  upload: ClientRequest,
  { clock, signal, onProgress }: PushOptions,
): Promise<void> {
  const source = withStallTimer(snapshot, {
    what: 'read the backup',
    limitMs: stallMs,
    clock,
    signal,
    stalled: stalledError,
  });
  await pipeline(counted(source, onProgress), upload, { end: true, signal });
  await finished(upload, { readable: false, signal });
}

async function* counted(
  source: AsyncIterable<Uint8Array>,
  onProgress: (bytes: number) => void = () => {},
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of source) {
    yield chunk;
    bytes += chunk.length;
    onProgress(bytes);
  }
}
