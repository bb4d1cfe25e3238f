import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { chunkBytes, decrypted, encrypted } from '../../../reconciler/backup/encryption.ts';
import { readEncryptionKey, type EncryptionKey } from '../../../reconciler/backup/encryption-keys.ts';

const newKey = (id: string): EncryptionKey => readEncryptionKey(id, randomBytes(32));
const key = newKey('2026-11');
const sealedChunk = chunkBytes + 16;

async function* inPartsOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

async function collect(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const seal = (content: Buffer, partBytes = 10_007, keys: readonly [EncryptionKey, ...EncryptionKey[]] = [key]) =>
  collect(encrypted(inPartsOf(content, partBytes), keys));
const open = (file: Buffer, partBytes = 10_007, keys: readonly EncryptionKey[] = [key]) =>
  collect(decrypted(inPartsOf(file, partBytes), keys));

/** Header and chunks of a file, separately, so that a test can combine them wrongly. */
async function taken(chunks: number): Promise<{ header: Buffer; chunks: Buffer[] }> {
  const file = await seal(randomBytes((chunks - 1) * chunkBytes + 100));
  const header = file.subarray(0, file.length - (chunks - 1) * sealedChunk - 116);
  const starts = Array.from({ length: chunks }, (_, number) => header.length + number * sealedChunk);
  return { header, chunks: starts.map((start) => file.subarray(start, start + sealedChunk)) };
}

describe('an encrypted backup', () => {
  it.each([0, 1, chunkBytes - 1, chunkBytes, chunkBytes + 1, 2 * chunkBytes, 3 * chunkBytes + 17])(
    'of %d bytes is decrypted to the original, in parts of any size',
    async (size) => {
      const content = randomBytes(size);
      const file = await seal(content);
      expect(file.length).toBeGreaterThan(size);
      for (const partBytes of [1_000_000, chunkBytes, 999]) {
        expect((await open(file, partBytes)).equals(content)).toBe(true);
        expect((await open(await seal(content, partBytes))).equals(content)).toBe(true);
      }
    },
  );

  it('is refused if any bit of any byte differs', async () => {
    const file = await seal(Buffer.from('/registry/secrets/default/token'));
    for (let index = 0; index < file.length; index += 1) {
      const changed = Buffer.from(file);
      changed[index] = (file[index] ?? 0) ^ (1 << (index % 8));
      await expect(open(changed), `byte ${index} of ${file.length}`).rejects.toThrow(/backup/);
    }
  });

  it('is refused if it is truncated anywhere', async () => {
    const file = await seal(Buffer.from('short'));
    for (let length = 0; length < file.length; length += 1) {
      await expect(open(file.subarray(0, length)), `${length} bytes`).rejects.toThrow(/use another backup/);
    }
  });

  it('is refused if it is truncated after any whole chunk', async () => {
    const { header, chunks } = await taken(4);
    for (let count = 0; count < 4; count += 1) {
      const cut = Buffer.concat([header, ...chunks.slice(0, count)]);
      await expect(open(cut), `${count} chunks`).rejects.toThrow('truncated or damaged in chunk');
    }
    expect((await open(Buffer.concat([header, ...chunks]))).length).toBe(3 * chunkBytes + 100);
  });

  it.each<[string, (chunks: readonly Buffer[], other: readonly Buffer[]) => readonly (Buffer | undefined)[]]>([
    ['two chunks are swapped', ([a, b, c]) => [b, a, c]],
    ['a chunk is missing', ([a, , c]) => [a, c]],
    ['a chunk is repeated', ([a, b, c]) => [a, b, b, c]],
    ['data follows the end', ([a, b, c]) => [a, b, c, Buffer.from('x')]],
    ['a chunk is from another file', ([a, , c], [, other]) => [a, other, c]],
    ['all chunks are from another file', (_, others) => others],
  ])('is refused if %s', async (_, change) => {
    const { header, chunks } = await taken(3);
    const parts = change(chunks, (await taken(3)).chunks).filter((part) => part !== undefined);
    await expect(open(Buffer.concat([header, ...parts]))).rejects.toThrow(/damaged in chunk [0-3]/);
  });

  it('contains neither the content nor the key, and differs each time', async () => {
    const content = Buffer.alloc(5_000, 'secret-token ');
    const [one, other] = await Promise.all([seal(content), seal(content)]);
    expect(one.includes('secret-token')).toBe(false);
    expect(one.includes(key.key.export())).toBe(false);
    expect(one.subarray(-5_000).equals(other.subarray(-5_000))).toBe(false);
  });

  it('is encrypted and decrypted as a stream, never more than three chunks behind', async () => {
    const part = randomBytes(10_000);
    const hash = createHash('sha256');
    let given = 0;
    async function* content(): AsyncGenerator<Buffer> {
      for (let count = 0; count < 300; count += 1) {
        given += part.length;
        hash.update(part);
        yield part;
      }
    }
    const found = createHash('sha256');
    let received = 0;
    let furthestBehind = 0;
    for await (const chunk of decrypted(encrypted(content(), [key]), [key])) {
      received += chunk.length;
      furthestBehind = Math.max(furthestBehind, given - received);
      found.update(chunk);
    }
    expect(found.digest('hex')).toBe(hash.digest('hex'));
    expect(furthestBehind).toBeLessThan(3 * chunkBytes);
  });

  it('closes the source when its reader stops half way', async () => {
    const file = await seal(randomBytes(5 * chunkBytes));
    let isClosed = false;
    async function* source(): AsyncGenerator<Buffer> {
      try {
        yield* inPartsOf(file, 10_000);
      } finally {
        isClosed = true;
      }
    }
    for await (const chunk of decrypted(source(), [key])) {
      expect(chunk.length).toBe(chunkBytes);
      break;
    }
    expect(isClosed).toBe(true);
  });
});

describe('keys', () => {
  it('are rotated: the first one encrypts, and each one decrypts what it encrypted', async () => {
    const newer = newKey('2027-01');
    const content = Buffer.from('content');
    const old = await seal(content, 10, [key]);
    const young = await seal(content, 10, [newer, key]);
    expect(await open(old, 10, [newer, key])).toEqual(content);
    expect(await open(young, 10, [key, newer])).toEqual(content);
    await expect(open(young)).rejects.toThrow(
      'encrypted with key "2027-01", but the known keys are "2026-11": add that key',
    );
    await expect(open(young, 10, [])).rejects.toThrow('the known keys are none');
  });

  it('of the same name and another content are distinguished from damaged content', async () => {
    await expect(open(await seal(Buffer.from('x')), 10, [newKey('2026-11')])).rejects.toThrow(
      'key "2026-11" cannot decrypt this backup, because another key of that name encrypted it',
    );
  });

  it('are taken as 32 bytes or as their base64, with the newline that echo leaves', () => {
    const bytes = randomBytes(32);
    for (const content of [
      bytes,
      Buffer.from(bytes.toString('base64')),
      Buffer.from(`${bytes.toString('base64')}\n`),
    ]) {
      expect(readEncryptionKey('k', content).key.export()).toEqual(bytes);
    }
  });

  it.each(['pass-phrase', 'correct horse battery staple', 'A'.repeat(44), randomBytes(16).toString('base64')])(
    'are refused without being quoted: %j',
    (content) => {
      const read = (): unknown => readEncryptionKey('k', Buffer.from(content));
      expect(read).toThrow(`encryption key "k" has ${content.length} bytes, but must have 32 bytes`);
      expect(read).not.toThrow(content);
    },
  );

  it('never appear in a log', () => {
    const printed = JSON.stringify(key);
    expect(printed).toBe('{"id":"2026-11","key":{}}');
  });
});
