import {
  type $Command,
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type PutObjectCommandInput,
  type S3Client,
  type S3ClientResolvedConfig,
  S3ServiceException,
  type ServiceInputTypes,
  type ServiceOutputTypes,
} from '@aws-sdk/client-s3';
import { Readable } from 'node:stream';
import { systemClock, type Clock } from '../../kube/clock.ts';
import { Deadline } from '../../kube/deadline.ts';
import { type DestinationFacts, Destinations, type Guard } from '../../clusters/network/destinations.ts';
import { longestWholeBytes, uploadInParts, uploadWhole } from './multipart-upload.ts';
import { namedSilence, s3Client } from './s3-client.ts';
import { leastBytesPerSecond, leastSpeed, withStallTimer } from '../../kube/stall.ts';
import { stalledError, StoreError, storeError } from './store-error.ts';
import type { StoreSettings } from './store-settings.ts';

/**
 * Most objects of a folder that are listed: three times what the most backups that retention can keep have. They are listed in the
 * longest time of two requests.
 */
const longestList = { pages: 100, pageSize: 1_000, keyCharacters: 16 << 20, requests: 2 };

/** Options of a store. */
export interface ObjectStoreOptions {
  /**
   * Longest time without progress; one minute if unset. The kernel buffers some megabytes, so with less a slow
   * connection may look like a stall.
   */
  readonly stallMs?: number;
  /** Longest time of one request, except for parts of an upload; two minutes if unset. */
  readonly requestMs?: number;
  /** Least speed of an upload, and of a stream; 64 KiB/s if unset. */
  readonly leastBytesPerSecond?: number;
  readonly clock?: Clock;
  /** Where it may connect to. @default anywhere, as on the machine of a user */
  readonly destinations?: Destinations | undefined;
  /** How it takes objects. @default what this process has found out */
  readonly takes?: UploadWay | undefined;
}

const defaults = { stallMs: 60_000, requestMs: 120_000, leastBytesPerSecond, clock: systemClock };

/**
 * How long objects are sent: in one request without a hash, in parts without one, or in parts with a hash of each, which every store takes.
 * A hash costs as much as all else; TLS makes it needless.
 */
type UploadWay = 'whole' | 'parts' | 'signed parts';

/** What stores take, by address and bucket. */
const found = new Map<string, UploadWay>();
/** Any user can name many. What is forgotten is found out again. */
const mostFound = 1_000;

/** Answers to what a store does not take: some want a hash, MD5 or parts, and say so in different ways. */
const refusals: readonly number[] = [400, 403, 411, 501];

/** A store as another thread opens it, without the tokens for it. */
export interface RemoteStore extends Required<
  Pick<ObjectStoreOptions, 'stallMs' | 'requestMs' | 'leastBytesPerSecond'>
> {
  readonly settings: StoreSettings;
  readonly destinations: DestinationFacts | undefined;
  readonly takes: UploadWay;
}

/**
 * The objects of one bucket. Every error is a {@link StoreError}, except errors of an uploaded stream, which are passed
 * on unchanged.
 */
export class ObjectStore {
  readonly settings: StoreSettings;
  readonly #client: S3Client;
  readonly #options: typeof defaults & ObjectStoreOptions;
  readonly #guard: Guard | undefined;

  constructor(settings: StoreSettings, options: ObjectStoreOptions = {}) {
    this.settings = settings;
    this.#options = { ...defaults, ...options };
    this.#guard = options.destinations?.guard('store');
    const { stallMs } = this.#options;
    this.#client = s3Client(settings, { connectMs: Math.min(10_000, stallMs), idleMs: stallMs }, this.#guard);
  }

  static of({ settings, destinations, ...options }: RemoteStore): ObjectStore {
    return new ObjectStore(settings, { ...options, destinations: destinations && Destinations.of(destinations) });
  }

  get remote(): RemoteStore {
    const { settings, takes = 'signed parts' } = this;
    const { destinations, stallMs, requestMs, leastBytesPerSecond } = this.#options;
    return { settings, destinations: destinations?.facts, takes, stallMs, requestMs, leastBytesPerSecond };
  }

  /** Unknown until the first small object is written. */
  get takes(): UploadWay | undefined {
    return (
      this.#options.takes ?? (this.settings.endpoint?.startsWith('http:') ? 'signed parts' : found.get(this.#name))
    );
  }

  /** Remembers what the store takes. */
  learn(way: UploadWay): void {
    if (found.size >= mostFound) found.clear();
    found.set(this.#name, way);
  }

  get #name(): string {
    return `${this.settings.endpoint ?? this.settings.region} ${this.settings.bucket}`;
  }

  /** Closes all connections. */
  close(): void {
    this.#client.destroy();
  }

  /**
   * Uploads a stream of any length in parts, or in one request if its length is known and the store takes that. Returns its length in
   * bytes. The upload is atomic: if the stream fails or stalls, or the signal aborts, the parts are removed before this rejects.
   */
  async put(
    key: string,
    source: AsyncIterable<Uint8Array>,
    signal?: AbortSignal,
    announcedBytes?: number,
  ): Promise<number> {
    const action = `upload ${key}`;
    const stream = withStallTimer(source, {
      what: action,
      limitMs: this.#options.stallMs,
      clock: this.#options.clock,
      signal,
      stalled: stalledError,
    });
    let failure: { readonly of: unknown } | undefined;
    const watched = withErrorsSeen(stream, (error) => (failure = { of: error }));
    const target = { bucket: this.settings.bucket, key };
    const isUnsigned = this.takes === 'whole' || this.takes === 'parts';
    const limits = { ...this.#options, signal, isUnsigned };
    const isWhole = announcedBytes !== undefined && announcedBytes <= longestWholeBytes && this.takes === 'whole';
    const upload = (): Promise<number> =>
      isWhole
        ? uploadWhole(this.#client, target, { source: watched, sizeBytes: announcedBytes }, limits)
        : uploadInParts(this.#client, target, watched, limits);
    const sizeBytes = await this.#ask(action, upload).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw failure ? failure.of : error;
    });
    await this.#checkSize(key, sizeBytes, signal);
    return sizeBytes;
  }

  /** Writes a small object. The first one is sent as a long one would be, to find out whether the store takes that. */
  async putText(key: string, text: string, signal?: AbortSignal): Promise<void> {
    const target = { Bucket: this.settings.bucket, Key: key, ContentType: 'application/json' };
    const write = (
      content: Pick<PutObjectCommandInput, 'Body' | 'ContentLength'>,
      isFine: (status: number) => boolean = () => false,
    ) => this.#unless(isFine, `write ${key}`, new PutObjectCommand({ ...target, ...content }), signal);
    if (this.takes !== undefined) return void (await write({ Body: text }));
    const bytes = Buffer.from(text, 'utf8');
    const content = { Body: Readable.from([bytes]), ContentLength: bytes.length };
    const refusal = await write(content, () => true).catch((error: unknown) => {
      if (error instanceof StoreError && error.reason === 'Unreachable') return 0;
      throw error;
    });
    // The client repeats this one.
    if (refusal !== undefined) await write({ Body: text });
    if (refusal === undefined) this.learn('whole');
    else if (refusals.includes(refusal)) this.learn('signed parts');
  }

  /**
   * Writes a small object unless there is one. Of clients that do so at the same time, one succeeds. Some stores ignore the condition
   * or do not know it: they write the object whether there is one or not.
   */
  async createText(key: string, text: string, signal?: AbortSignal): Promise<'written' | 'exists'> {
    const target = { Bucket: this.settings.bucket, Key: key, Body: text, ContentType: 'application/json' };
    const command = new PutObjectCommand({ ...target, IfNoneMatch: '*' });
    const status = await this.#unless((found) => found === 412 || found === 501, `write ${key}`, command, signal);
    if (status === 501) await this.putText(key, text, signal);
    return status === 412 ? 'exists' : 'written';
  }

  /** Streams an object, or a range of it. Stopping early closes the connection. */
  async *get(key: string, signal?: AbortSignal, range?: string): AsyncGenerator<Uint8Array> {
    const action = `read ${key}`;
    const request = new GetObjectCommand({ Bucket: this.settings.bucket, Key: key, Range: range });
    const stop = new AbortController();
    const whole = AbortSignal.any(signal ? [signal, stop.signal] : [stop.signal]);
    try {
      const { Body } = await this.#request(
        action,
        // The client holds on to its signal while the body is read, which no deadline ends.
        (abortSignal) => {
          abortSignal.addEventListener('abort', () => stop.abort(abortSignal.reason), { once: true });
          return this.#client.send(request, { abortSignal: whole });
        },
        signal,
      );
      if (!(Body instanceof Readable)) throw new StoreError('Failed', `cannot ${action}: the response has no body`);
      yield* withStallTimer<Uint8Array>(Body, {
        what: action,
        limitMs: this.#options.stallMs,
        least: { ...leastSpeed, bytesPerSecond: this.#options.leastBytesPerSecond },
        clock: this.#options.clock,
        signal,
        stalled: stalledError,
      });
    } catch (thrown) {
      throw signal?.aborted ? thrown : storeError(action, this.settings, namedSilence(thrown), this.#guard);
    }
  }

  /** Reads a part of an object; less at its end. */
  async getPart(key: string, offset: number, length: number, signal?: AbortSignal): Promise<Buffer> {
    const bytes = Buffer.alloc(length);
    let filled = 0;
    for await (const chunk of this.get(key, signal, `bytes=${offset}-${offset + length - 1}`)) {
      const taken = chunk.subarray(0, length - filled);
      bytes.set(taken, filled);
      filled += taken.length;
      if (filled === length) break;
    }
    return bytes.subarray(0, filled);
  }

  /** Size of an object in bytes. */
  async size(key: string, signal?: AbortSignal): Promise<number> {
    const request = new HeadObjectCommand({ Bucket: this.settings.bucket, Key: key });
    return (await this.#send(`check ${key}`, request, signal)).ContentLength ?? 0;
  }

  /** Reads a small object. Refuses objects that are longer than `maxBytes`. */
  async getText(key: string, signal?: AbortSignal, maxBytes = 1 << 20): Promise<string> {
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of this.get(key, signal)) {
      length += chunk.length;
      if (length > maxBytes)
        throw new StoreError(
          'Failed',
          `cannot read ${key}: it is longer than ${maxBytes} bytes, so the operator did not write it`,
        );
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString('utf8');
  }

  /** Keys of all objects below a folder. Refuses folders with more objects than the operator writes. */
  async list(folder: string, signal?: AbortSignal): Promise<string[]> {
    const keys: string[] = [];
    let next: string | undefined;
    const began = this.#options.clock.elapsed();
    for (let pages = 0, length = 0; pages < longestList.pages && length < longestList.keyCharacters; pages++) {
      const request = new ListObjectsV2Command({
        Bucket: this.settings.bucket,
        Prefix: folder,
        MaxKeys: longestList.pageSize,
        ...(next === undefined ? {} : { ContinuationToken: next }),
      });
      if (this.#options.clock.elapsed() - began > longestList.requests * this.#options.requestMs)
        throw stalledError(`list ${folder}`, longestList.requests * this.#options.requestMs);
      const page = await this.#send(`list ${folder}`, request, signal);
      for (const { Key = '' } of page.Contents ?? []) {
        if (!Key.startsWith(folder)) continue;
        // A copy: strings of the parser keep the whole answer in memory.
        keys.push(Buffer.from(Key, 'utf8').toString('utf8'));
        length += Key.length;
      }
      next = page.IsTruncated ? page.NextContinuationToken : undefined;
      if (next === undefined) return keys;
    }
    throw new StoreError(
      'AnswerTooLong',
      `cannot list ${folder}: the list has more than ${longestList.pages * longestList.pageSize} objects, or names longer than the names of backups: set etcd.backup.retention and delete old backups in the bucket, or check what answers at the host in the Secret`,
    );
  }

  /** Resolves if the store lets this client list a folder, which may be empty. */
  async reach(folder: string, signal?: AbortSignal): Promise<void> {
    const request = new ListObjectsV2Command({ Bucket: this.settings.bucket, Prefix: folder, MaxKeys: 1 });
    await this.#send(`list ${folder}`, request, signal);
  }

  /** Deletes an object. A missing object is not an error. */
  async delete(key: string, signal?: AbortSignal): Promise<void> {
    const request = new DeleteObjectCommand({ Bucket: this.settings.bucket, Key: key });
    await this.#send(`delete ${key}`, request, signal);
  }

  /**
   * Removes the parts of uploads below a folder that began before an instant and never ended, because the operator was
   * killed. They are invisible and cost money. Does nothing on stores that cannot list them.
   */
  async abortUploads(folder: string, before: number, signal?: AbortSignal): Promise<void> {
    const Bucket = this.settings.bucket;
    const unfinished = new ListMultipartUploadsCommand({ Bucket, Prefix: folder });
    const { Uploads = [] } = await this.#send(`list unfinished uploads of ${folder}`, unfinished, signal).catch(
      (error: unknown) => {
        if (error instanceof StoreError && error.reason === 'Unavailable') return { Uploads: [] };
        throw error;
      },
    );
    for (const { Key, UploadId, Initiated } of Uploads) {
      if (Key?.startsWith(folder) && Initiated !== undefined && Initiated.getTime() < before) {
        const request = new AbortMultipartUploadCommand({ Bucket, Key, UploadId });
        await this.#send(`abort the upload of ${Key}`, request, signal);
      }
    }
  }

  /** An incomplete object would only be detected during a restore, when it is too late. */
  async #checkSize(key: string, sizeBytes: number, signal: AbortSignal | undefined): Promise<void> {
    const storedBytes = await this.size(key, signal);
    if (storedBytes === sizeBytes) return;
    throw new StoreError(
      'Failed',
      `the upload of ${key} is incomplete: ${sizeBytes} bytes were sent, but the store has ${storedBytes}: check the logs of the store`,
    );
  }

  #send<Input extends ServiceInputTypes, Output extends ServiceOutputTypes>(
    action: string,
    command: $Command<Input, Output, S3ClientResolvedConfig>,
    signal: AbortSignal | undefined,
  ): Promise<Output> {
    return this.#request(action, (abortSignal) => this.#client.send(command, { abortSignal }), signal);
  }

  /** Sends a request. @returns the status of an error that is none for the caller */
  #unless(
    isFine: (status: number) => boolean,
    action: string,
    command: PutObjectCommand,
    signal: AbortSignal | undefined,
  ): Promise<number | undefined> {
    const send = (abortSignal: AbortSignal) =>
      this.#client.send(command, { abortSignal }).then(
        () => undefined,
        (error: unknown) => {
          const status = statusOf(error);
          if (status !== undefined && isFine(status)) return status;
          throw error;
        },
      );
    return this.#request(action, send, signal);
  }

  /** One request, which ends in time: a store that answers a byte now and then would hold it for ever. */
  async #request<T>(
    action: string,
    send: (abortSignal: AbortSignal) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    const deadline = new Deadline(this.#options.requestMs, signal);
    try {
      return await this.#ask(action, () => send(deadline.signal), signal);
    } catch (error) {
      throw deadline.expired ? stalledError(action, this.#options.requestMs) : error;
    } finally {
      deadline.release();
    }
  }

  async #ask<T>(action: string, request: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    try {
      return await request();
    } catch (thrown) {
      signal?.throwIfAborted();
      throw storeError(action, this.settings, thrown, this.#guard);
    }
  }
}

/** HTTP status of an answer that is an error; undefined without an answer. */
function statusOf(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
}

/** The same stream. `see` is called with its errors, but not with those of its reader. */
async function* withErrorsSeen<T>(source: AsyncIterable<T>, see: (error: unknown) => void): AsyncGenerator<T> {
  try {
    for await (const chunk of source) yield chunk;
  } catch (error) {
    see(error);
    throw error;
  }
}
