import { Worker } from 'node:worker_threads';
import type { MemberPlace } from '../../etcd/snapshot.ts';
import { systemClock } from '../../kube/clock.ts';
import { messageOf } from '../../kube/error-message.ts';
import { inSpan } from '../../kube/span.ts';
import { StallTimer } from '../../kube/stall.ts';
import type { ObjectStore, RemoteStore } from '../store/object-store.ts';
import { StoreError, type StoreFailure } from '../store/store-error.ts';
import type { StoreCredentials } from '../store/store-settings.ts';
import type { SnapshotObject, StoredSnapshot, UploadCalls } from './store-stream.ts';

/** Functions cannot be sent: the thread asks for each token. */
type Sent<T> = T extends unknown ? Omit<T, 'token'> : never;

/** A snapshot to upload, as a message. */
export interface UploadJob {
  readonly member: MemberPlace;
  readonly store: RemoteStore;
  readonly credentials: Sent<StoreCredentials>;
  readonly object: SnapshotObject;
}

export type ToThread =
  | { readonly kind: 'job'; readonly job: UploadJob }
  | { readonly kind: 'abort' }
  | { readonly kind: 'token'; readonly token?: string; readonly problem?: string };

export type FromThread =
  | { readonly kind: 'moved'; readonly bytes: number }
  | { readonly kind: 'token' }
  | { readonly kind: 'stored'; readonly stored: StoredSnapshot }
  | { readonly kind: 'failed'; readonly message: string; readonly reason: StoreFailure | undefined };

/**
 * Limits of the heap of a thread, in which no buffer is: only what a hostile etcd or store makes of its answers. Without a bundle, Node's
 * compiler of TypeScript needs most of it.
 */
const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 4 };

/** Backups of a fleet follow each other. Starting a thread takes a third of a second of a processor. */
const restMs = 10_000;
/** A store that puts parts together is silent for ten minutes at most. */
const silenceMs = 15 * 60_000;
/** It removes parts first, which takes a store a minute at most. */
const graceMs = 90_000;
/** An upload that failed so soon begins again: later, the revision in its manifest may be compacted. */
const soonMs = 60_000;

/** How a store may take an object after an upload has failed; undefined if that changes nothing. The client repeats parts. */
function lowerWay(way: ObjectStore['takes'], { reason }: StoreError): 'parts' | 'signed parts' | undefined {
  if (way === 'whole') return reason === 'CredentialsRefused' ? undefined : 'parts';
  return way === 'parts' && ['AccessDenied', 'Failed'].includes(reason) ? 'signed parts' : undefined;
}

interface UploadThreadsOptions {
  /** The program of a thread. By default the one that is compiled beside the bundle. */
  readonly program?: URL;
  readonly restMs?: number;
  readonly graceMs?: number;
}

/** Only when a thread starts: a program that needs no Node, such as `hcp`, has no file beside it, and starts none. */
function ownProgram(): URL {
  return new URL(`./upload-thread${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);
}

/**
 * Uploads snapshots in threads: an etcd sends thousands of messages a second, and each takes its time from reconciles. Each upload has
 * a thread alone, so that a crash or a full heap ends that one. A thread rests a while after an upload, and ends.
 */
export class UploadThreads {
  readonly #options: Required<Omit<UploadThreadsOptions, 'program'>> & Pick<UploadThreadsOptions, 'program'>;
  readonly #resting = new Map<Worker, NodeJS.Timeout>();

  constructor(options: UploadThreadsOptions = {}) {
    this.#options = { restMs, graceMs, ...options };
  }

  /** How many threads wait for another upload. */
  get resting(): number {
    return this.#resting.size;
  }

  /** @throws StoreError for the store, and any other error for etcd or the thread */
  async store(
    store: ObjectStore,
    member: MemberPlace,
    object: SnapshotObject,
    calls: UploadCalls,
  ): Promise<StoredSnapshot> {
    for (;;) {
      const began = performance.now();
      try {
        return await inSpan('upload', { 'etcd.member': member.endpoint.name }, () =>
          this.#inThread(store.remote, member, object, calls),
        );
      } catch (error) {
        calls.signal?.throwIfAborted();
        const below = error instanceof StoreError ? lowerWay(store.takes, error) : undefined;
        if (below === undefined) throw error;
        store.learn(below);
        if (performance.now() - began > soonMs) throw error;
      }
    }
  }

  async #inThread(
    store: RemoteStore,
    member: MemberPlace,
    object: SnapshotObject,
    calls: UploadCalls,
  ): Promise<StoredSnapshot> {
    calls.signal?.throwIfAborted();
    const worker = this.#take();
    const { token, ...credentials } = { token: noToken, ...store.settings.credentials };
    const settings = { ...store.settings, credentials: noCredentials };
    try {
      const job = { member, store: { ...store, settings }, credentials, object };
      return await converse(worker, job, token, { ...calls, graceMs: this.#options.graceMs });
    } finally {
      this.#rest(worker);
    }
  }

  #take(): Worker {
    const [[worker, timer] = []] = this.#resting;
    if (worker) {
      clearTimeout(timer);
      this.#resting.delete(worker);
      worker.ref();
      return worker;
    }
    // Its environment is a copy: it names the proxies.
    const started = new Worker(this.#options.program ?? ownProgram(), { resourceLimits, execArgv: [] });
    // Without a listener, Node ends the process.
    started.on('error', () => {});
    started.once('exit', () => {
      clearTimeout(this.#resting.get(started));
      this.#resting.delete(started);
    });
    return started;
  }

  #rest(worker: Worker): void {
    if (worker.threadId === -1) return;
    worker.unref();
    this.#resting.set(worker, setTimeout(() => void worker.terminate(), this.#options.restMs).unref());
  }
}

const noCredentials = { kind: 'static', accessKeyId: '', secretAccessKey: '' } as const;
const noToken = (): Promise<string> => Promise.reject(new Error('the store needs no token'));

/** One upload of a thread, until it has stored the snapshot, has failed, or has ended. */
function converse(
  worker: Worker,
  job: UploadJob,
  token: () => Promise<string>,
  { signal, moved, graceMs: grace }: UploadCalls & { readonly graceMs: number },
): Promise<StoredSnapshot> {
  return new Promise<StoredSnapshot>((resolve, reject) => {
    let why: unknown = new Error('it has exited');
    const send = (message: ToThread): void => worker.postMessage(message, []);
    const timer = new StallTimer<FromThread>({
      what: 'upload',
      limitMs: silenceMs,
      clock: systemClock,
      stalled: (_, ms) => new Error(`it has said nothing for ${ms / 60_000} minutes`),
    });
    const endThread = (reason: unknown): void => {
      why = reason;
      void worker.terminate();
    };
    let cancelGrace = (): void => {};
    const abort = (): void => {
      send({ kind: 'abort' });
      cancelGrace = systemClock.setTimer(grace, () => endThread(signal?.reason));
    };
    const noteError = (error: unknown): void => void (why = error);
    const onExit = (): void => settle(() => reject(new Error(ended(why))));
    const settle = (result: () => void): void => {
      timer.end();
      cancelGrace();
      signal?.removeEventListener('abort', abort);
      worker.off('message', onMessage).off('error', noteError).off('exit', onExit);
      result();
    };
    const onMessage = (message: FromThread): void => {
      timer.came(message);
      if (message.kind === 'stored') return settle(() => resolve(message.stored));
      if (message.kind === 'failed') {
        const { reason, message: text } = message;
        return settle(() => reject(reason === undefined ? new Error(text) : new StoreError(reason, text)));
      }
      timer.wait(endThread);
      if (message.kind === 'moved') moved?.(message.bytes);
      else
        void token().then(
          (answer) => send({ kind: 'token', token: answer }),
          (error: unknown) => send({ kind: 'token', problem: messageOf(error) }),
        );
    };
    worker.on('message', onMessage).on('error', noteError).on('exit', onExit);
    signal?.addEventListener('abort', abort);
    timer.wait(endThread);
    send({ kind: 'job', job });
  });
}

/** Libraries put parts of requests into their messages: only the code of an error is shown. */
function ended(why: unknown): string {
  const code = why instanceof Error && 'code' in why && typeof why.code === 'string' ? why.code : undefined;
  const reason =
    code === 'ERR_WORKER_OUT_OF_MEMORY'
      ? `it needed more than its ${resourceLimits.maxOldGenerationSizeMb} MiB of memory`
      : (code ?? messageOf(why));
  return `the thread that uploads the snapshot has ended: ${reason}; the operator tries again`;
}

/** Those of this process. */
export const uploadThreads = new UploadThreads();
