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
      `parentPort.on('message', ({ port }) => port.postMessage(${storedBy('threadId')}));`,
    );
    const { sha256: first } = await idle.store(store, etcd.place, object, {});
    expect((await idle.store(store, etcd.place, object, {})).sha256).toBe(first);
    await until('the thread to end', () => idle.resting === 0);
    expect((await idle.store(store, etcd.place, object, {})).sha256).not.toBe(first);
  });

  it('gets each token that the store needs from the operator, and the reason why there is none', async () => {
    const asking = await threadsOf(
      'asking',
      `parentPort.on('message', ({ port }) => {
        port.postMessage({ kind: 'token' });
        port.on('message', ({ token, problem }) => {
          port.postMessage({ kind: 'failed', message: token ?? problem, reason: undefined });
        });
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

  it('has several uploads, so that many need two', async () => {
    const busy = await threadsOf(
      'busy',
      `parentPort.on('message', ({ port }) => setTimeout(() => port.postMessage(${storedBy('threadId')}), 300));`,
    );
    const uploads = await Promise.all(Array.from({ length: 8 }, () => busy.store(store, etcd.place, object, {})));
    expect(new Set(uploads.map(({ sha256 }) => sha256)).size).toBe(2);
    expect(busy.resting).toBe(2);
  });

  it('that crashes costs its upload alone, which is alone from then on, and says nothing but a code', async () => {
    const broken = await threadsOf(
      'broken',
      `const all = [];
      parentPort.on('message', ({ job, port }) => {
        all.push(job.object.name);
        if (job.object.name === 'bad/snapshot.db') throw Object.assign(new Error('a secret'), { code: 'EBROKEN' });
        setTimeout(() => port.postMessage(${storedBy('all.join()')}), 300);
      });`,
    );
    const goods = Array.from({ length: 4 }, (_, number) => ({ ...object, name: `good-${number}/snapshot.db` }));
    const bad = { ...object, name: 'bad/snapshot.db' };
    const outcomes = async () => {
      const uploads = await Promise.allSettled([...goods, bad].map((one) => broken.store(store, etcd.place, one, {})));
      return uploads.map((one) => (one.status === 'fulfilled' ? one.value.sha256 : backupFailure(one.reason).message));
    };
    const failed = 'the thread that uploads the snapshot has ended: EBROKEN; the operator tries again';
    // Those that were in one thread with the bad one began again, each alone.
    const seen = await outcomes();
    expect(seen.at(-1)).toBe(failed);
    expect(seen.slice(0, -1)).toContain('good-0/snapshot.db');
    expect(seen.filter((one) => one === failed).length).toBe(1);
    // Now it meets nobody.
    const shared = 'good-0/snapshot.db,good-2/snapshot.db';
    expect((await outcomes()).filter((one) => one.endsWith(shared)).length).toBe(2);
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
