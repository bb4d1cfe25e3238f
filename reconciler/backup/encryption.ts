import { createCipheriv, createDecipheriv, type KeyObject, createSecretKey, randomBytes } from 'node:crypto';
import type { EncryptionKey } from './encryption-keys.ts';
import { piecesOf } from './store/pieces.ts';

/** Bytes of content in a chunk. Part of the format. */
export const chunkBytes = 65_536;

/** The name ends with the version of the format. */
const magic = Buffer.from('hcp-encrypted-1\n', 'latin1');
const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const keyBytes = 32;
/** Length of the GCM authentication tag. */
const tagBytes = 16;
/** Maximum length of a header. A key ID has up to 255 bytes. */
const maxHeaderBytes = magic.length + 1 + 255 + nonceBytes + keyBytes + tagBytes;

/**
 * Encrypts a stream with the first of the keys. The format: a header with a new key for this file (see
 * {@link sealHeader}), then chunks of 64 KiB, the last one shorter, each followed by its GCM tag. The nonce of a chunk
 * consists of three zeros, its number in eight bytes, and one byte that is 1 only in the last chunk. This detects
 * chunks that are changed, missing, duplicated, reordered or from another file. Memory does not grow with the stream.
 */
export async function* encrypted(
  source: AsyncIterable<Uint8Array>,
  keys: readonly [EncryptionKey, ...EncryptionKey[]],
): AsyncGenerator<Buffer> {
  const { bytes, fileKey } = sealHeader(keys[0]);
  yield bytes;
  let number = 0;
  for await (const piece of piecesOf(source, chunkBytes)) {
    yield* sealedChunk(fileKey, nonce(number, piece.isLast), piece.bytes);
    number += 1;
  }
}

/** Length of the output of {@link encrypted} for this many bytes. */
export function encryptedBytes(sizeBytes: number, { id }: EncryptionKey): number {
  const headerBytes = magic.length + 1 + Buffer.byteLength(id) + nonceBytes + keyBytes + tagBytes;
  return headerBytes + sizeBytes + tagBytes * Math.max(1, Math.ceil(sizeBytes / chunkBytes));
}

/**
 * Decrypts the output of {@link encrypted}, with the key that it requires. Every returned byte is authentic, but only
 * the end of the stream confirms that it is complete: do not use a part. Throws a sentence for the user.
 */
export async function* decrypted(
  source: AsyncIterable<Uint8Array>,
  keys: readonly EncryptionKey[],
): AsyncGenerator<Buffer> {
  const iterator = source[Symbol.asyncIterator]();
  try {
    const start = await readAtLeast(iterator, maxHeaderBytes);
    const { bytes, fileKey } = openHeader(start, keys);
    let number = 0;
    const rest = followedBy(start.subarray(bytes.length), iterator);
    for await (const piece of piecesOf(rest, chunkBytes + tagBytes)) {
      const content = openChunk(fileKey, nonce(number, piece.isLast), piece.bytes);
      // `encrypted` creates an empty chunk only for an empty stream.
      if (content === undefined || (content.length === 0 && number > 0)) throw damaged(number, piece.isLast);
      if (content.length > 0) yield content;
      number += 1;
    }
  } finally {
    // Closes the connection behind it.
    await iterator.return?.();
  }
}

function damaged(number: number, isLast: boolean): Error {
  const start = number * chunkBytes;
  const what = isLast ? 'truncated or damaged' : 'damaged';
  return new Error(`the encrypted backup is ${what} in chunk ${number}, after ${start} bytes: use another backup`);
}

function nonce(number: number, isLast: boolean): Buffer {
  const bytes = Buffer.alloc(nonceBytes);
  bytes.writeBigUInt64BE(BigInt(number), 3);
  bytes[11] = isLast ? 1 : 0;
  return bytes;
}

function* sealedChunk(key: KeyObject, chunkNonce: Buffer, content: Buffer): Generator<Buffer> {
  const seal = createCipheriv(cipher, key, chunkNonce);
  yield seal.update(content);
  seal.final();
  yield seal.getAuthTag();
}

/** The content of a chunk; undefined if it is not authentic. */
function openChunk(key: KeyObject, chunkNonce: Buffer, chunk: Buffer): Buffer | undefined {
  if (chunk.length < tagBytes) return undefined;
  const end = chunk.length - tagBytes;
  const open = createDecipheriv(cipher, key, chunkNonce, { authTagLength: tagBytes }).setAuthTag(chunk.subarray(end));
  const content = open.update(chunk.subarray(0, end));
  try {
    open.final();
  } catch {
    return undefined;
  }
  return content;
}

/** At least `length` bytes of a stream, fewer only at its end. */
async function readAtLeast(iterator: AsyncIterator<Uint8Array>, length: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for (let taken = 0; taken < length;) {
    const { done, value } = await iterator.next();
    if (done) break;
    chunks.push(value);
    taken += value.length;
  }
  return Buffer.concat(chunks);
}

async function* followedBy(start: Buffer, iterator: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield start;
  for (let result = await iterator.next(); !result.done; result = await iterator.next()) yield result.value;
}

/** A header, and the key that it contains for the following content. */
interface OpenedHeader {
  readonly bytes: Buffer;
  readonly fileKey: KeyObject;
}

/**
 * Creates the header of a new file, with a key for this file alone. Layout: magic, length of the key ID, key ID, nonce,
 * file key encrypted with the user's key, tag. The tag also covers everything before the nonce.
 */
function sealHeader({ id, key }: EncryptionKey): OpenedHeader {
  const fileKey = randomBytes(keyBytes);
  const nonce = randomBytes(nonceBytes);
  const start = Buffer.concat([magic, Buffer.from([Buffer.byteLength(id)]), Buffer.from(id, 'utf8')]);
  const wrap = createCipheriv(cipher, key, nonce).setAAD(start);
  const wrapped = Buffer.concat([wrap.update(fileKey), wrap.final(), wrap.getAuthTag()]);
  return { bytes: Buffer.concat([start, nonce, wrapped]), fileKey: createSecretKey(fileKey) };
}

/**
 * Opens the header at the beginning of `file`, with the key that it names. Throws a sentence for the user, which names
 * the required key.
 */
function openHeader(file: Buffer, keys: readonly EncryptionKey[]): OpenedHeader {
  if (!file.subarray(0, magic.length).equals(magic)) {
    throw new Error('this is not an encrypted backup, or its beginning is damaged: use another backup');
  }
  const idEnd = magic.length + 1 + (file[magic.length] ?? 0);
  const wrappedStart = idEnd + nonceBytes;
  const end = wrappedStart + keyBytes + tagBytes;
  if (file.length < end) throw new Error('the encrypted backup is truncated in its header: use another backup');
  const start = file.subarray(0, idEnd);
  const id = file.toString('utf8', magic.length + 1, idEnd);
  const unwrap = createDecipheriv(cipher, keyOf(id, keys), file.subarray(idEnd, wrappedStart), {
    authTagLength: tagBytes,
  });
  unwrap.setAAD(start).setAuthTag(file.subarray(end - tagBytes, end));
  const fileKey = unwrap.update(file.subarray(wrappedStart, end - tagBytes));
  try {
    unwrap.final();
  } catch (cause) {
    const message = `key "${id}" cannot decrypt this backup, because another key of that name encrypted it or its header is damaged: add the original key, or use another backup`;
    throw new Error(message, { cause });
  }
  return { bytes: file.subarray(0, end), fileKey: createSecretKey(fileKey) };
}

function keyOf(id: string, keys: readonly EncryptionKey[]): KeyObject {
  const found = keys.find((key) => key.id === id);
  if (found) return found.key;
  const known = keys.map((key) => `"${key.id}"`).join(', ') || 'none';
  // A damaged ID may contain any bytes, and terminals print the message.
  throw new Error(
    `the backup is encrypted with key ${JSON.stringify(id)}, but the known keys are ${known}: add that key to the Secret`,
  );
}
