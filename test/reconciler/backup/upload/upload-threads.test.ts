import { createSecretKey } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { decrypted, encryptedBytes } from '../../../../reconciler/backup/encryption.ts';
import { backupFailure } from '../../../../reconciler/backup/failure.ts';
import { ObjectStore } from '../../../../reconciler/backup/store/object-store.ts';
import { UploadThreads } from '../../../../reconciler/backup/upload/upload-threads.ts';
import { ObjectStoreServer } from '../../../support/object-store-server.ts';
import { type SnapshotServer, startSnapshotServer } from '../../../support/snapshot-server.ts';
import { until } from '../../../support/until.ts';

const databaseBytes = 6 << 20;
const object = { name: 'team/c1/snapshot.db', key: undefined };
const directory = mkdtempSync(join(tmpdir(), 'upload-threads-'));

let etcd: SnapshotServer;
let server: ObjectStoreServer;
let store: ObjectStore;
let threads: UploadThreads;

beforeAll(async () => {
  etcd = await startSnapshotServer(databaseBytes);
  // Starting a thread from TypeScript takes seconds.
  threads = new UploadThreads({ restMs: 30_000 });
});
afterAll(async () => {
  await etcd.stop();
  rmSync(directory, { recursive: true });
});
beforeEach(async () => {
  server = await ObjectStoreServer.start('tls');
  store = new ObjectStore(server.settings);
});
afterEach(() => {
  store.close();
  server.stop();
});

const stored = () => server.objects.get(object.name);
const ways = () => new Set(server.writes.map(({ kind, hash }) => `${kind} ${hash.length === 64 ? 'signed' : hash}`));

/** Threads of another program, in JavaScript. */
async function threadsOf(name: string, text: string): Promise<UploadThreads> {
  const path = join(directory, `${name}.mjs`);
  await writeFile(path, `import { parentPort, threadId } from 'node:worker_threads';\n${text}`);
  return new UploadThreads({ program: pathToFileURL(path), restMs: 300, graceMs: 300 });
}

describe('a snapshot that a thread uploads', () => {
  it('is sent in one request without a hash of its own, once the store has taken a small object like this', async () => {
    await store.putText('team/c1/owner.json', '{}');
    let bytes = 0;
    const moved = (more: number) => (bytes += more);
    expect(await threads.store(store, etcd.place, object, { moved })).toEqual({
      sizeBytes: etcd.sizeBytes,
      sha256: etcd.sha256,
    });
    expect(stored()?.length).toBe(etcd.sizeBytes);
    expect(server.writes.map(({ kind, hash }) => [kind, hash])).toEqual([
      ['object', 'UNSIGNED-PAYLOAD'],
      ['object', 'UNSIGNED-PAYLOAD'],
    ]);
    expect(bytes).toBeGreaterThan(0);
  });

  it('has the announced length when it is encrypted, too', async () => {
    await store.putText('team/c1/owner.json', '{}');
    const key = { id: '2026', key: createSecretKey(Buffer.alloc(32, 1)) };
    await threads.store(store, etcd.place, { ...object, key }, {});
    expect(ways()).toEqual(new Set(['object UNSIGNED-PAYLOAD']));
    const content = stored() ?? Buffer.alloc(0);
    expect(content.length).toBe(encryptedBytes(etcd.sizeBytes, key));
    const plain: Uint8Array[] = [];
    for await (const chunk of decrypted(one(content), [key])) plain.push(chunk);
    expect(Buffer.concat(plain).length).toBe(etcd.sizeBytes);
  });

  it('is sent in signed parts to a store of which nothing is known, or without TLS', async () => {
    await threads.store(store, etcd.place, object, {});
    expect(ways()).toEqual(new Set(['part signed']));
    expect(stored()?.length).toBe(etcd.sizeBytes);
  });

  it.each([400, 403])('is sent in signed parts after the store has refused a small object with %i', async (status) => {
    server.refuses = (headers) => (headers['x-amz-content-sha256'] === 'UNSIGNED-PAYLOAD' ? status : undefined);
    await store.putText('team/c1/owner.json', '{}');
    const other = new ObjectStore(server.settings);
    await threads.store(other, etcd.place, object, {});
    other.close();
    expect(ways()).toEqual(new Set(['object signed', 'part signed']));
    expect(stored()?.length).toBe(etcd.sizeBytes);
  });

  it.each([413, 403])('is sent in parts at once if the store refuses one request with %i', async (status) => {
    await store.putText('team/c1/owner.json', '{}');
    server.refuses = ({ 'content-length': length }) => (Number(length) > 5 << 20 ? status : undefined);
    await threads.store(store, etcd.place, object, {});
    expect(ways()).toEqual(new Set(['object UNSIGNED-PAYLOAD', 'part UNSIGNED-PAYLOAD']));
    expect(stored()?.length).toBe(etcd.sizeBytes);
    const before = etcd.asked;
    await threads.store(store, etcd.place, object, {});
    expect(etcd.asked - before).toBe(1);
  });

  it.each([
    ['more', 1 << 20],
    ['less', 8 << 20],
  ])('is not stored if etcd sends %s than it began with', async (_, left) => {
    const wrong = await startSnapshotServer(databaseBytes, left);
    await store.putText('team/c1/owner.json', '{}');
    const uploading = threads.store(store, wrong.place, object, {});
    await expect(uploading).rejects.toThrow(
      /^the snapshot of etcd has \d+ bytes instead of the \d+ that it began with/,
    );
    expect(stored()).toBeUndefined();
    await wrong.stop();
  });

  it('is not stored if it is far larger than the database', async () => {
    const endless = await startSnapshotServer(databaseBytes, 3 * 2 ** 30);
    const uploading = threads.store(store, endless.place, { ...object, databaseBytes }, {});
    await expect(uploading).rejects.toThrow('the snapshot of etcd does not end: 3072 MiB are more than the 6 MiB');
    await endless.stop();
  });

  it('fails with the reason of the store, and with the reason of the signal', async () => {
    server.refuses = () => 403;
    await expect(threads.store(store, etcd.place, object, {})).rejects.toMatchObject({ reason: 'AccessDenied' });
    const controller = new AbortController();
    server.refuses = () => {
      controller.abort(new Error('the control plane was deleted'));
      return undefined;
    };
    const uploading = threads.store(store, etcd.place, object, { signal: controller.signal });
    await expect(uploading).rejects.toThrow('the control plane was deleted');
    expect(stored()).toBeUndefined();
  });
});

describe('a thread', () => {
  it('uploads what follows, and ends when nothing does', async () => {
    const idle = await threadsOf(
      'echo',
      `parentPort.on('message', () => parentPort.postMessage(${storedBy('threadId')}));`,
    );
    const { sha256: first } = await idle.store(store, etcd.place, object, {});
    expect((await idle.store(store, etcd.place, object, {})).sha256).toBe(first);
    await until('the thread to end', () => idle.resting === 0);
    expect((await idle.store(store, etcd.place, object, {})).sha256).not.toBe(first);
  });

  it('gets each token that the store needs from the operator, and the reason why there is none', async () => {
    const asking = await threadsOf(
      'asking',
      `parentPort.on('message', (message) => {
        if (message.kind === 'job') parentPort.postMessage({ kind: 'token' });
        else parentPort.postMessage({ kind: 'failed', message: message.token ?? message.problem, reason: undefined });
      });`,
    );
    const signingIn = (token: () => Promise<string>): ObjectStore =>
      new ObjectStore({ ...server.settings, credentials: { kind: 'webIdentity', roleArn: 'arn', token } });
    const given = signingIn(async () => 'a token');
    await expect(asking.store(given, etcd.place, object, {})).rejects.toThrow('a token');
    const none = signingIn(() => Promise.reject(new Error('the ServiceAccount does not exist')));
    await expect(asking.store(none, etcd.place, object, {})).rejects.toThrow('the ServiceAccount does not exist');
    given.close();
    none.close();
  });

  it('that crashes costs its upload alone, and says nothing but a code', async () => {
    const broken = await threadsOf(
      'broken',
      `parentPort.on('message', ({ job }) => {
        if (job.object.name === 'bad') throw Object.assign(new Error('a secret'), { code: 'EBROKEN' });
        setTimeout(() => parentPort.postMessage(${storedBy('threadId')}), 300);
      });`,
    );
    const [good, bad] = await Promise.allSettled([
      broken.store(store, etcd.place, object, {}),
      broken.store(store, etcd.place, { ...object, name: 'bad' }, {}),
    ]);
    expect(good.status).toBe('fulfilled');
    expect(bad.status === 'rejected' && backupFailure(bad.reason)).toEqual({
      reason: 'BackupFailed',
      message: 'the thread that uploads the snapshot has ended: EBROKEN; the operator tries again',
    });
  });

  it('that fills its memory costs its upload alone', async () => {
    const full = await threadsOf(
      'full',
      `parentPort.on('message', () => { const all = []; for (;;) all.push({ all: [...all] }); });`,
    );
    await expect(full.store(store, etcd.place, object, {})).rejects.toThrow(
      'it needed more than its 128 MiB of memory',
    );
  });

  it('that does not follow the signal is ended', async () => {
    const deaf = await threadsOf('deaf', `parentPort.on('message', () => { for (;;); });`);
    const controller = new AbortController();
    const uploading = deaf.store(store, etcd.place, object, { signal: controller.signal });
    controller.abort(new Error('the operator shuts down'));
    await expect(uploading).rejects.toThrow('the operator shuts down');
  });
});

/** A message that a snapshot is stored, whose hash is an expression. */
function storedBy(hash: string): string {
  return `{ kind: 'stored', stored: { sizeBytes: 0, sha256: String(${hash}) } }`;
}

async function* one(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content;
}
