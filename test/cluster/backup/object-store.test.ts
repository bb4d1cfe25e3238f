import { randomBytes } from 'node:crypto';
import { CreateMultipartUploadCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { uploadInParts } from '../../../reconciler/backup/store/multipart-upload.ts';
import { ObjectStore } from '../../../reconciler/backup/store/object-store.ts';
import { startS3, type S3 } from '../../support/s3.ts';

let s3: S3;
let store: ObjectStore;
beforeAll(async () => {
  s3 = await startS3('tls');
  store = new ObjectStore(s3.settings);
});
afterAll(async () => {
  store.close();
  await s3.stop();
});

const part = randomBytes(1 << 20);

async function* megabytes(count: number, then?: () => Promise<never>): AsyncGenerator<Buffer> {
  for (let index = 0; index < count; index += 1) yield part;
  await then?.();
}

async function read(key: string): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of store.get(key)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe('a store', () => {
  it.each([0, 1, 8, 9, 33])('stores a stream of %d MiB unchanged', async (count) => {
    expect(await store.put(`sizes/${count}.bin`, megabytes(count))).toBe(count << 20);
    expect((await read(`sizes/${count}.bin`)).equals(Buffer.concat(Array<Buffer>(count).fill(part)))).toBe(true);
    expect(await s3.unfinishedUploads()).toEqual([]);
  });

  it('lists more objects than fit into one answer, and only those of the folder', async () => {
    const keys = Array.from({ length: 1_003 }, (_, index) => `many/${String(index).padStart(4, '0')}.json`);
    await store.putText('many-others/1.json', '{}');
    for (let start = 0; start < keys.length; start += 50) {
      await Promise.all(keys.slice(start, start + 50).map((key) => store.putText(key, '{}')));
    }
    expect(await store.list('many/')).toEqual(keys);
    expect(await store.list('none/')).toEqual([]);
  });

  it('reads small objects as text, and refuses others', async () => {
    await store.putText('text/ä b.json', '{"a":"ü"}');
    expect(await store.getText('text/ä b.json')).toBe('{"a":"ü"}');
    await store.put('text/large.bin', megabytes(2));
    await expect(store.getText('text/large.bin')).rejects.toThrow(
      'longer than 1048576 bytes, so the operator did not write it',
    );
  });

  it('writes an object only if there is none, for one of many writers', async () => {
    await Promise.all(Array.from({ length: 8 }, (_, index) => store.createText('once/1.json', String(index))));
    const first = await store.getText('once/1.json');
    expect(first).toMatch(/^[0-7]$/);
    await store.createText('once/1.json', 'later');
    expect(await store.getText('once/1.json')).toBe(first);
  });

  it('deletes, and succeeds if there is nothing', async () => {
    await store.putText('gone/1.json', '{}');
    await store.delete('gone/1.json');
    await store.delete('gone/1.json');
    expect(await store.list('gone/')).toEqual([]);
  });

  it('releases the connection when a reader stops', async () => {
    await store.put('left/1.bin', megabytes(9));
    for (let count = 0; count < 60; count += 1) {
      for await (const chunk of store.get('left/1.bin')) {
        expect(chunk.length).toBeGreaterThan(0);
        break;
      }
    }
    expect((await read('left/1.bin')).length).toBe(9 << 20);
  });
});

describe('an upload with the checksums of AWS', () => {
  const limits = { signal: undefined, stallMs: 60_000, leastBytesPerSecond: 64 << 10 };

  it.each([0, 4, 5, 11])('of %d MiB is whole', async (count) => {
    const target = { bucket: s3.settings.bucket, key: `checksums/${count}.bin` };
    expect(await uploadInParts(s3.client, target, megabytes(count), limits)).toBe(count << 20);
    expect((await read(target.key)).equals(Buffer.concat(Array<Buffer>(count).fill(part)))).toBe(true);
  });
});

describe('an upload of concurrent parts', () => {
  it('has each part in its place', async () => {
    const numbered = Array.from({ length: 23 }, (_, number) => Buffer.alloc(1 << 20, number));
    const source = async function* (): AsyncGenerator<Uint8Array> {
      yield* numbered;
    };
    await store.put('numbered/snapshot.db', source());
    expect((await read('numbered/snapshot.db')).equals(Buffer.concat(numbered))).toBe(true);
  });
});

describe('an interrupted upload', () => {
  const fail = async (): Promise<never> => {
    throw new Error('etcd went away');
  };
  const hang = (): Promise<never> => new Promise(() => {});

  it('whose stream fails leaves nothing and reports the cause', async () => {
    await expect(store.put('cut/snapshot.db', megabytes(20, fail))).rejects.toThrow('etcd went away');
    expect(await store.list('cut/')).toEqual([]);
    expect(await s3.unfinishedUploads()).toEqual([]);
  });

  it('whose stream stalls leaves nothing and reports that', async () => {
    const impatient = new ObjectStore(s3.settings, { stallMs: 5_000 });
    await expect(impatient.put('stall/snapshot.db', megabytes(20, hang))).rejects.toMatchObject({
      reason: 'Stalled',
      message: expect.stringContaining(
        'cannot upload stall/snapshot.db: no progress, or next to none, for 5 s',
      ) as unknown,
    });
    expect(await store.list('stall/')).toEqual([]);
    expect(await s3.unfinishedUploads()).toEqual([]);
    impatient.close();
  });

  it('that is aborted leaves nothing', async () => {
    const controller = new AbortController();
    const abort = (): Promise<never> => {
      controller.abort(new Error('the provider stops'));
      return hang();
    };
    await expect(store.put('abort/snapshot.db', megabytes(20, abort), controller.signal)).rejects.toThrow(
      'the provider stops',
    );
    expect(await store.list('abort/')).toEqual([]);
    expect(await s3.unfinishedUploads()).toEqual([]);
  });

  it('of a killed provider is removed later, others are not', async () => {
    for (const Key of ['killed/team/snapshot.db', 'others/team/snapshot.db']) {
      await s3.client.send(new CreateMultipartUploadCommand({ Bucket: s3.settings.bucket, Key }));
    }
    await store.abortUploads('killed/', Date.now() - 3_600_000);
    expect((await s3.unfinishedUploads()).sort()).toEqual(['killed/team/snapshot.db', 'others/team/snapshot.db']);
    await store.abortUploads('killed/', Date.now() + 3_600_000);
    expect(await s3.unfinishedUploads()).toEqual(['others/team/snapshot.db']);
  });
});
