import { createCipheriv, createDecipheriv, createSecretKey, randomBytes, type KeyObject } from 'node:crypto';
import type { EncryptionKey } from './encryption-keys.ts';

/** The name ends with the version of the format. */
const magic = Buffer.from('hcp-encrypted-1\n', 'latin1');
const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const keyBytes = 32;
/** Length of the GCM authentication tag. */
export const tagBytes = 16;
/** Length of a header without the key's ID. */
const fixedBytes = magic.length + 1 + nonceBytes + keyBytes + tagBytes;
/** Maximum length of a header. */
export const maxHeaderBytes = fixedBytes + 255;

/** A header, and the key that it contains for the following content. */
export interface OpenedHeader {
  readonly bytes: Buffer;
  readonly fileKey: KeyObject;
}

/**
 * Creates the header of a new file, with a key for this file alone. Layout: magic, length of the key ID, key ID, nonce,
 * file key encrypted with the user's key, tag. The tag also covers everything before the nonce.
 */
export function sealHeader({ id, key }: EncryptionKey): OpenedHeader {
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
export function openHeader(file: Buffer, keys: readonly EncryptionKey[]): OpenedHeader {
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
