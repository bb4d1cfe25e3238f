/** The program of a thread that uploads one snapshot after the other, see {@link UploadThreads}. */
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { announcedBytes, readSnapshot } from '../../etcd/snapshot.ts';
import { messageOf } from '../../kube/error-message.ts';
import { ObjectStore } from '../store/object-store.ts';
import { StoreError } from '../store/store-error.ts';
import { type StoredSnapshot, storeStream, type UploadCalls } from './store-stream.ts';
import type { FromThread, ToThread, UploadJob } from './upload-threads.ts';

/** How often it says how many bytes it has moved. */
const sayMs = 500;

// Linux counts it for this thread alone: reconciles and probes go first.
if (process.platform === 'linux') setPriority(5);

let ending = new AbortController();
let answerToken: (answer: Extract<ToThread, { kind: 'token' }>) => void = () => {};

parentPort?.on('message', (message: ToThread) => {
  if (message.kind === 'abort') ending.abort(new Error('aborted'));
  else if (message.kind === 'token') answerToken(message);
  else void run(message.job);
});

const say = (message: FromThread): void => parentPort?.postMessage(message, []);

async function run(job: UploadJob): Promise<void> {
  ending = new AbortController();
  let [bytes, saidAt] = [0, -Infinity];
  const moved = (more: number): void => {
    bytes += more;
    if (performance.now() - saidAt < sayMs) return;
    say({ kind: 'moved', bytes });
    [bytes, saidAt] = [0, performance.now()];
  };
  try {
    say({ kind: 'stored', stored: await upload(job, { signal: ending.signal, moved }) });
  } catch (error) {
    say({ kind: 'failed', message: messageOf(error), reason: error instanceof StoreError ? error.reason : undefined });
  }
}

async function upload(job: UploadJob, calls: UploadCalls): Promise<StoredSnapshot> {
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

/** A new token for the token service, which the operator requests. */
function token(): Promise<string> {
  return new Promise((resolve, reject) => {
    answerToken = (answer) => {
      if (answer.token !== undefined) resolve(answer.token);
      else reject(new StoreError('CredentialsRefused', answer.problem ?? ''));
    };
    say({ kind: 'token' });
  });
}
