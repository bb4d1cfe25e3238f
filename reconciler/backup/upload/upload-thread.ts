/** The program of a thread that uploads one snapshot after the other, see {@link UploadThreads}. */
import { setPriority } from 'node:os';
import { type MessagePort, parentPort } from 'node:worker_threads';
import { announcedBytes, readSnapshot } from '../../etcd/snapshot.ts';
import { messageOf } from '../../kube/error-message.ts';
import { ObjectStore } from '../store/object-store.ts';
import { StoreError } from '../store/store-error.ts';
import { type StoredSnapshot, storeStream, type UploadCalls } from './store-stream.ts';
import type { FromThread, Order, ToThread, UploadJob } from './upload-threads.ts';

/** How often it says how many bytes it has moved. */
const sayMs = 500;

// Linux counts it for this thread alone: reconciles and probes go first.
if (process.platform === 'linux') setPriority(5);

parentPort?.on('message', ({ job, port }: Order) => void run(job, port));

async function run(job: UploadJob, port: MessagePort): Promise<void> {
  const say = (message: FromThread): void => port.postMessage(message, []);
  const ending = new AbortController();
  const tokens: ((answer: Extract<ToThread, { kind: 'token' }>) => void)[] = [];
  port.on('message', (message: ToThread) => {
    if (message.kind === 'abort') ending.abort(new Error('aborted'));
    else tokens.shift()?.(message);
  });
  /** A new token for the token service, which the operator requests. */
  const token = (): Promise<string> =>
    new Promise((resolve, reject) => {
      tokens.push(({ token: given, problem = '' }) => {
        if (given !== undefined) resolve(given);
        else reject(new StoreError('CredentialsRefused', problem));
      });
      say({ kind: 'token' });
    });
  let [bytes, saidAt] = [0, -Infinity];
  const moved = (more: number): void => {
    bytes += more;
    if (performance.now() - saidAt < sayMs) return;
    say({ kind: 'moved', bytes });
    [bytes, saidAt] = [0, performance.now()];
  };
  try {
    say({ kind: 'stored', stored: await upload(job, token, { signal: ending.signal, moved }) });
  } catch (error) {
    say({ kind: 'failed', message: messageOf(error), reason: error instanceof StoreError ? error.reason : undefined });
  }
}

async function upload(job: UploadJob, token: () => Promise<string>, calls: UploadCalls): Promise<StoredSnapshot> {
  const { member, credentials: given, object } = job;
  const credentials = given.kind === 'static' ? given : { ...given, token };
  const store = ObjectStore.of({ ...job.store, settings: { ...job.store.settings, credentials } });
  const messages = readSnapshot(member, calls.signal);
  try {
    const first = await messages.next();
    if (first.done) throw new Error(`etcd member ${member.endpoint.name} has sent no snapshot`);
    const { value } = first;
    async function* blobs(): AsyncGenerator<Uint8Array> {
      yield value.blob;
      for await (const { blob } of messages) yield blob;
    }
    return await storeStream(store, object, blobs(), calls, announcedBytes(value));
  } finally {
    // It ends when etcd sends the next message, or at its own limit.
    void messages.return(undefined).catch(() => {});
    store.close();
  }
}
