import { createHash, randomBytes } from 'node:crypto';
import { cp, open, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClusterBackups, type NewBackup } from '../../../reconciler/backup/cluster-backups.ts';
import { readEncryptionKey } from '../../../reconciler/backup/encryption-keys.ts';
import { backupId, type BackupName } from '../../../constructs/cluster/backup-names.ts';
import { ObjectStore } from '../../../reconciler/backup/store/object-store.ts';
import { startS3, type S3 } from '../../support/s3.ts';
import { snapshotFacts } from '../../support/snapshot-facts.ts';

let s3: S3;
let store: ObjectStore;
beforeAll(async () => {
  s3 = await startS3();
  store = new ObjectStore({ ...s3.settings, prefix: 'eu/one' });
});
afterAll(async () => {
  store.close();
  await s3.stop();
});

const oldKey = readEncryptionKey('2025', randomBytes(32));
const key = readEncryptionKey('2026', randomBytes(32));
const content = randomBytes(9_500_000);
const start = Date.parse('2026-11-21T09:15:31.123Z');

async function* inParts(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 300_007) yield bytes.subarray(at, at + 300_007);
}

async function collect(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const backup = (number: number, snapshot: AsyncIterable<Uint8Array> = inParts(content)): NewBackup => ({
  name: { time: start + number * 3_600_000, revision: 100 + number },
  facts: snapshotFacts,
  snapshot,
});

const of = (cluster: string, keys = [key]): ClusterBackups =>
  new ClusterBackups(store, { namespace: 'team', cluster }, keys);

const read = async (backups: ClusterBackups, name: BackupName): Promise<Buffer> =>
  collect(backups.readSnapshot(name, await backups.manifest(name)));

/** File of an object, to damage it without the store's API. */
const file = (cluster: string, name: BackupName, object: string): string =>
  join(s3.directory, s3.settings.bucket, 'eu/one/team', cluster, backupId(name), object);

describe('backups of a cluster', () => {
  it.each([
    ['unencrypted', 'clear', []],
    ['encrypted', 'encrypted', [key]],
  ])('are read as they were written, %s', async (_, cluster, keys) => {
    const backups = of(cluster, keys);
    const manifest = await backups.write(backup(0));
    expect(manifest).toMatchObject({
      sizeBytes: content.length,
      sha256: createHash('sha256').update(content).digest('hex'),
      revision: 100,
    });
    expect(await backups.manifest(backup(0).name)).toEqual(manifest);
    expect((await read(backups, backup(0).name)).equals(content)).toBe(true);
  });

  it('are stored unencrypted only without a key', async () => {
    const backups = of('secrecy');
    await backups.write({ ...backup(0), bundle: inParts(Buffer.from('keys of the cluster')) });
    const folder = `eu/one/team/secrecy/${backupId(backup(0).name)}`;
    expect(await store.list(`${folder}/`)).toEqual(
      ['bundle.encrypted', 'manifest.json', 'snapshot.db.encrypted'].map((name) => `${folder}/${name}`),
    );
    expect((await collect(backups.readRecoveryBundle(backup(0).name))).toString()).toBe('keys of the cluster');
    await of('no-secrecy', []).write({ ...backup(0), bundle: inParts(Buffer.from('keys of the cluster')) });
    expect((await store.list('eu/one/team/no-secrecy/')).map((name) => name.split('/').at(-1))).toEqual([
      'manifest.json',
      'snapshot.db',
    ]);
  });

  it('are decrypted with older keys after a rotation', async () => {
    await of('rotated', [oldKey]).write(backup(0));
    const rotated = of('rotated', [key, oldKey]);
    await rotated.write(backup(1));
    expect((await rotated.manifest(backup(1).name)).encryption).toEqual({ keyId: '2026' });
    for (const number of [0, 1]) expect((await read(rotated, backup(number).name)).equals(content)).toBe(true);
    await expect(read(of('rotated', [key]), backup(0).name)).rejects.toThrow(
      'encrypted with key "2025", but the known keys are "2026"',
    );
  });

  it('are listed newest first, with their verification, and without those of a cluster with a longer name', async () => {
    const backups = of('listed');
    for (const number of [1, 0, 2]) await backups.write(backup(number, inParts(Buffer.from('x'))));
    await of('listed-too').write(backup(5, inParts(Buffer.from('x'))));
    const verification = {
      formatVersion: 1,
      time: '2026-11-22T00:00:00Z',
      revision: 101,
      restoreSeconds: 2.5,
    } as const;
    await backups.markVerified(backup(1).name, verification);
    expect(await backups.list()).toEqual({
      backups: [2, 1, 0].map((number) => ({ ...backup(number).name, isVerified: number === 1 })),
      unfinished: [],
      bareSnapshots: [],
    });
  });

  it('are gone after they are deleted, and the others stay', async () => {
    const backups = of('deleted');
    for (const number of [0, 1]) await backups.write(backup(number, inParts(Buffer.from('x'))));
    await backups.delete(backup(0).name);
    await backups.delete(backup(0).name);
    expect((await backups.list()).backups.map(({ revision }) => revision)).toEqual([101]);
    expect((await store.list('eu/one/team/deleted/')).length).toBe(2);
  });
});

describe('an unfinished backup', () => {
  it('is never listed, whether its upload was interrupted or its manifest is missing', async () => {
    async function* cut(): AsyncGenerator<Buffer> {
      yield* inParts(content);
      throw new Error('etcd went away');
    }
    const backups = of('half');
    await expect(backups.write(backup(0, cut()))).rejects.toThrow('etcd went away');
    expect(await store.list('eu/one/team/half/')).toEqual([]);
    const controller = new AbortController();
    async function* stopped(): AsyncGenerator<Buffer> {
      yield Buffer.from('x');
      controller.abort(new Error('the provider stops'));
    }
    await expect(backups.write(backup(1, stopped()), controller.signal)).rejects.toThrow('the provider stops');
    expect((await backups.list()).backups).toEqual([]);
  });

  it('is deleted once no upload can still write it', async () => {
    const backups = of('leftover');
    await backups.write(backup(2, inParts(Buffer.from('x'))));
    const orphan = `eu/one/team/leftover/${backupId(backup(0).name)}/snapshot.db`;
    await store.putText(orphan, 'half');
    expect((await backups.list()).unfinished).toEqual([backup(0).name]);
    const { unfinished } = await backups.list();
    await backups.deleteUnfinished(unfinished, backup(0).name.time);
    expect(await store.list('eu/one/team/leftover/')).toContain(orphan);
    await backups.deleteUnfinished(unfinished, backup(1).name.time);
    const left = [{ ...backup(2).name, isVerified: false }];
    expect(await backups.list()).toEqual({ backups: left, unfinished: [], bareSnapshots: [] });
  });
});

describe('a manipulated backup', () => {
  it.each([
    ['unencrypted', 'damaged-clear', 'snapshot.db', [], /damaged, because its size or hash differs from its manifest/],
    ['encrypted', 'damaged-encrypted', 'snapshot.db.encrypted', [key], /damaged in chunk 7, after 458752 bytes/],
  ])('is refused for one changed byte, %s', async (_, cluster, object, keys, message) => {
    const backups = of(cluster, keys);
    await backups.write(backup(0));
    const handle = await open(file(cluster, backup(0).name, object), 'r+');
    const byte = Buffer.alloc(1);
    await handle.read(byte, 0, 1, 500_000);
    await handle.write(Buffer.from([(byte[0] ?? 0) ^ 1]), 0, 1, 500_000);
    await handle.close();
    await expect(read(backups, backup(0).name)).rejects.toThrow(message);
  });

  it.each([
    ['unencrypted', 'short-clear', 'snapshot.db', []],
    ['encrypted', 'short-encrypted', 'snapshot.db.encrypted', [key]],
  ])('is refused if it is truncated, %s', async (_, cluster, object, keys) => {
    const backups = of(cluster, keys);
    await backups.write(backup(0));
    await truncate(file(cluster, backup(0).name, object), 9_000_000);
    await expect(read(backups, backup(0).name)).rejects.toThrow(/damaged.*use another backup/);
  });

  it('is refused under the name of another backup and of another cluster', async () => {
    const backups = of('copied');
    await backups.write(backup(0));
    const folder = (cluster: string, number: number): string => file(cluster, backup(number).name, '');
    await cp(folder('copied', 0), folder('copied', 1), { recursive: true });
    await cp(folder('copied', 0), folder('thief', 0), { recursive: true });
    await expect(backups.manifest(backup(1).name)).rejects.toThrow('belongs to backup 2026-11-21T09-15-31.123Z-100');
    await expect(of('thief').manifest(backup(0).name)).rejects.toThrow(
      'belongs to team/copied, so it was copied there',
    );
  });
});
