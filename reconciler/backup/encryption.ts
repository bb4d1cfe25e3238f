import { createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto';
import { maxHeaderBytes, openHeader, sealHeader, tagBytes } from './encryption-header.ts';
import type { EncryptionKey } from './encryption-keys.ts';
import { piecesOf } from './store/pieces.ts';

/** Bytes of content in a chunk. Part of the format. */
export const chunkBytes = 65_536;

const cipher = 'aes-256-gcm';

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
  const bytes = Buffer.alloc(12);
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
