import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  UploadPartCommand,
  type CompletedPart,
  type S3Client,
} from '@aws-sdk/client-s3';
import { Readable } from 'node:stream';
import type { Clock } from '../../kube/clock.ts';
import { StallTimer } from '../../kube/stall.ts';
import { piecesOf } from './pieces.ts';
import { stalledError } from './store-error.ts';

/** The longest object that is sent in one request: AWS takes 5 GiB, and who is cut off sends all of it again. */
export const longestWholeBytes = 1 << 30;

/**
 * The minimum part size of stores. With at most 10,000 parts, uploads are limited to 52 GB: several times the maximum
 * size of etcd.
 */
const partBytes = 5 << 20;

const partsAtOnce = 2;

/** Destination of an object. */
interface UploadTarget {
  readonly bucket: string;
  readonly key: string;
}

/** What ends an upload. */
interface UploadLimits {
  readonly signal: AbortSignal | undefined;
  /** Longest time of a request that moves next to nothing. */
  readonly stallMs: number;
  /** Least speed of the parts that are sent at once. */
  readonly leastBytesPerSecond: number;
  /** Parts are sent without a hash in their signature: TLS protects them. */
  readonly isUnsigned?: boolean | undefined;
}

/** Some stores put the parts together before they answer. */
const longestEndMs = 10 * 60_000;

/**
 * Uploads a stream in parts and returns its length in bytes. Two parts are sent while the next one is read. The upload
 * is atomic: sent parts are removed before this rejects. It needs the memory of three parts; the client's own upload
 * needs ten times as much. The signal also aborts a request in progress.
 */
export async function uploadInParts(
  client: S3Client,
  target: UploadTarget,
  source: AsyncIterable<Uint8Array>,
  limits: UploadLimits,
): Promise<number> {
  const upload = new MultipartUpload(client, target, limits);
  let sizeBytes = 0;
  let earlier = Promise.resolve();
  let latest = Promise.resolve();
  try {
    for await (const { bytes, isLast } of piecesOf(source, partBytes, 3)) {
      // The next piece reuses its memory.
      await earlier;
      if (isLast && sizeBytes === 0) {
        await upload.sendWhole(bytes);
        return bytes.length;
      }
      sizeBytes += bytes.length;
      earlier = latest;
      latest = upload.sendPart(bytes);
      // It is awaited after further pieces. Until then Node would treat a rejection as unhandled.
      latest.catch(() => {});
    }
    await Promise.all([earlier, latest]);
    await upload.complete();
    return sizeBytes;
  } catch (error) {
    // A part that arrives after the removal would remain.
    await Promise.allSettled([earlier, latest]);
    await upload.remove();
    throw error;
  }
}

/**
 * Uploads a stream of this length in one request, without a copy of it in memory and without a hash in its signature. It is atomic: a
 * store drops a request that ends early. It cannot be repeated.
 */
export async function uploadWhole(
  client: S3Client,
  { bucket, key }: UploadTarget,
  { source, sizeBytes }: { readonly source: AsyncIterable<Uint8Array>; readonly sizeBytes: number },
  limits: UploadLimits & { readonly clock: Clock },
): Promise<number> {
  const ended = new AbortController();
  const { signal, leastBytesPerSecond, stallMs, clock } = limits;
  const what = `upload ${key}`;
  const end = (reason: unknown): void => ended.abort(reason);
  const timer = new StallTimer<number>({
    what,
    limitMs: partMs(limits),
    least: { bytesPerSecond: leastBytesPerSecond, sizeOf: (bytes) => bytes },
    clock,
    stalled: () => stalledError(what, stallMs),
  });
  async function* taken(): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      timer.wait(end);
      yield chunk;
      timer.came(chunk.length);
    }
    timer.wait(end);
  }
  // The client does not listen to errors of the stream, and Node ends the process for one that has no listener.
  const body = Readable.from(taken(), { objectMode: false }).on('error', end);
  try {
    const object = { Bucket: bucket, Key: key, Body: body, ContentLength: sizeBytes };
    const abortSignal = AbortSignal.any([...(signal ? [signal] : []), ended.signal]);
    await client.send(new PutObjectCommand(object), { abortSignal });
    return sizeBytes;
  } catch (error) {
    throw ended.signal.aborted ? ended.signal.reason : error;
  } finally {
    timer.end();
    body.destroy();
  }
}

/** Longest time of the parts that are sent at once. */
function partMs({ stallMs, leastBytesPerSecond }: UploadLimits): number {
  return Math.ceil(stallMs + ((partsAtOnce * partBytes) / leastBytesPerSecond) * 1000);
}

class MultipartUpload {
  readonly #client: S3Client;
  readonly #object: { readonly Bucket: string; readonly Key: string };
  readonly #limits: UploadLimits;
  readonly #parts: CompletedPart[] = [];
  #count = 0;
  #id: Promise<string | undefined> | undefined;

  constructor(client: S3Client, { bucket, key }: UploadTarget, limits: UploadLimits) {
    this.#client = client;
    this.#object = { Bucket: bucket, Key: key };
    this.#limits = limits;
  }

  async sendWhole(bytes: Buffer): Promise<void> {
    await this.#client.send(new PutObjectCommand({ ...this.#object, Body: bytes }), this.#within(partMs(this.#limits)));
  }

  async sendPart(bytes: Buffer): Promise<void> {
    this.#count += 1;
    const number = this.#count;
    this.#id ??= this.#begin();
    const part = { PartNumber: number, UploadId: await this.#id };
    const command = new UploadPartCommand({ ...this.#object, ...part, Body: bytes });
    if (this.#limits.isUnsigned) leaveUnsigned(command);
    const { ETag, ChecksumCRC32 } = await this.#client.send(command, this.#within(partMs(this.#limits)));
    this.#parts[number - 1] = { PartNumber: number, ETag, ...(ChecksumCRC32 ? { ChecksumCRC32 } : {}) };
  }

  async complete(): Promise<void> {
    const MultipartUpload = { Parts: this.#parts };
    await this.#client.send(
      new CompleteMultipartUploadCommand({ ...this.#object, UploadId: await this.#id, MultipartUpload }),
      this.#within(longestEndMs),
    );
  }

  /**
   * Runs without the signal, which may be the reason for the removal. A later cleanup removes parts that remain because
   * the store is down.
   */
  async remove(): Promise<void> {
    const id = await this.#id?.catch(() => undefined);
    if (id === undefined) return;
    const abort = new AbortMultipartUploadCommand({ ...this.#object, UploadId: id });
    await this.#client.send(abort, { abortSignal: AbortSignal.timeout(this.#limits.stallMs) }).catch(() => {});
  }

  #within(ms: number): { readonly abortSignal: AbortSignal } {
    const { signal } = this.#limits;
    return { abortSignal: AbortSignal.any([...(signal ? [signal] : []), AbortSignal.timeout(ms)]) };
  }

  async #begin(): Promise<string | undefined> {
    // AWS refuses parts with checksums that were not announced. Other stores refuse the announcement.
    const withChecksums = (await this.#client.config.requestChecksumCalculation()) === 'WHEN_SUPPORTED';
    const { UploadId } = await this.#client.send(
      new CreateMultipartUploadCommand({ ...this.#object, ...(withChecksums ? { ChecksumAlgorithm: 'CRC32' } : {}) }),
      this.#within(partMs(this.#limits)),
    );
    return UploadId;
  }
}

/** Sends the content of a request without its hash in the signature. */
function leaveUnsigned({ middlewareStack }: UploadPartCommand): void {
  middlewareStack.add(
    (next) => (args) => {
      if (isSigned(args.request)) args.request.headers['x-amz-content-sha256'] = 'UNSIGNED-PAYLOAD';
      return next(args);
    },
    { step: 'build', name: 'unsigned' },
  );
}

function isSigned(request: unknown): request is { readonly headers: Record<string, string> } {
  return typeof request === 'object' && request !== null && 'headers' in request;
}
