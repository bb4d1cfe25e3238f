import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type BareObject, checkBareSnapshot, readBareSnapshot } from '../../../reconciler/backup/bare-snapshot.ts';
import { messageOf } from '../../../reconciler/kube/error-message.ts';
import { snapshotOf } from '../../support/etcd-database.ts';

const name = '2026-08-21T20:15:00+02:00.etcd';
const content = { revisions: [2, 3, 4, 4711], etcdVersion: '3.6.0' };
const good = snapshotOf(content);

async function* inParts(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 1_013) yield bytes.subarray(at, at + 1_013);
}

/** The object, and what a store sends when it is read as a whole. */
const objectOf = (bytes: Buffer, sent = bytes): BareObject => ({
  sizeBytes: bytes.length,
  readAt: async (offset, length) => bytes.subarray(offset, offset + length),
  stream: () => inParts(sent),
});

const withHash = (database: Buffer): Buffer =>
  Buffer.concat([database, createHash('sha256').update(database).digest()]);

/** The same with other bytes at an offset, and a correct hash. */
function changed(offset: number, bytes: readonly number[], from = good): Buffer {
  const database = Buffer.from(from.subarray(0, -32));
  database.set(bytes, offset);
  return withHash(database);
}

/** Where the second half of the keys begins: the last of six pages. */
const lastPage = 5 * 4096;

async function collect(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe('a snapshot without a manifest', () => {
  it('shows its revision, the version of etcd, its size and its hash', async () => {
    expect(await checkBareSnapshot(name, objectOf(good))).toEqual({
      revision: 4711,
      etcdVersion: '3.6.0',
      sizeBytes: good.length,
      sha256: createHash('sha256').update(good).digest('hex'),
    });
  });

  it.each([
    ['without a version', { revisions: [2, 9] }, { revision: 9, etcdVersion: undefined }],
    ['with a version that is none', { revisions: [2], etcdVersion: 'x\n' }, { revision: 2, etcdVersion: undefined }],
    ['with larger pages', { ...content, pageSize: 16_384 }, { revision: 4711 }],
  ])('is read %s', async (_, of, expected) => {
    expect(await checkBareSnapshot(name, objectOf(snapshotOf(of)))).toMatchObject(expected);
  });

  it('is read by its second description if the first one is damaged', async () => {
    expect(await checkBareSnapshot(name, objectOf(changed(16, [0])))).toMatchObject({ revision: 4711 });
    const larger = snapshotOf({ ...content, pageSize: 16_384 });
    expect(await checkBareSnapshot(name, objectOf(changed(16, [0], larger)))).toMatchObject({ revision: 4711 });
  });

  const flipped = Buffer.from(good);
  flipped.writeUInt8(flipped.readUInt8(lastPage + 3000) ^ 1, lastPage + 3000);

  it.each<[string, BareObject, string]>([
    ['nothing', objectOf(Buffer.alloc(0)), 'has 0 bytes, so that it is incomplete'],
    ['half of it', objectOf(good.subarray(0, good.length / 2)), 'so that it is incomplete'],
    ['a database without its hash', objectOf(good.subarray(0, -32)), 'or does not end with the hash of etcd'],
    ['another file', objectOf(withHash(Buffer.alloc(16_384, 'x'))), 'does not begin as a database of etcd'],
    ['descriptions that are both damaged', objectOf(changed(4096 + 20, [9], changed(20, [9]))), 'does not begin as'],
    ['another database of bbolt', objectOf(snapshotOf({ ...content, bucket: 'kez' })), 'contains no revision of etcd'],
    ['no keys', objectOf(snapshotOf({ revisions: [] })), 'contains no revision of etcd'],
    ['a page of an unknown kind', objectOf(changed(lastPage + 8, [99])), 'contains a page of an unknown kind'],
    ['a page of endless elements', objectOf(changed(lastPage + 10, [255, 255])), 'contains a page that is damaged'],
    ['a key outside of its page', objectOf(changed(lastPage + 16 + 16 + 4, [255, 255, 255])), 'a page that is damaged'],
    ['a page of four terabytes', objectOf(changed(lastPage + 12, [255, 255, 255, 63])), 'that is too long'],
    ['pages that lead to themselves', objectOf(changed(3 * 4096 + 16 + 16 + 8, [3])), 'refer to each other'],
    ['a page far outside', objectOf(changed(3 * 4096 + 16 + 16 + 8, [0, 0, 0, 0, 1])), 'ends before its page'],
    ['a flipped bit', objectOf(good, flipped), 'is damaged, because its content differs from the hash'],
    ['an end that is missing', objectOf(good, good.subarray(0, -1)), 'is damaged'],
    ['more than it has', objectOf(good, Buffer.concat([good, good])), 'is damaged'],
  ])('is refused with %s', async (_, object, message) => {
    const error: unknown = await checkBareSnapshot(name, object).catch((thrown: unknown) => thrown);
    expect(messageOf(error)).toMatch(new RegExp(`^snapshot ${name.replace('+', '\\+')} .*: use another one`));
    expect(messageOf(error)).toContain(message);
  });

  it('is not read to its end if its facts are refused', async () => {
    const object = {
      ...objectOf(good),
      stream: () => {
        throw new Error('it is read');
      },
    };
    const refuse = (): never => {
      throw new Error('too new');
    };
    await expect(checkBareSnapshot(name, object, refuse)).rejects.toThrow('too new');
  });

  it('is sent as it was checked, and as nothing else', async () => {
    const checked = await checkBareSnapshot(name, objectOf(good));
    expect(await collect(readBareSnapshot(name, objectOf(good), checked))).toEqual(good);
    for (const other of [flipped, good.subarray(0, -1), Buffer.concat([good, good])])
      await expect(collect(readBareSnapshot(name, objectOf(other), checked))).rejects.toThrow('has changed since');
  });
});
