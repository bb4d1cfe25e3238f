import { createSecretKey, type KeyObject } from 'node:crypto';

/** A user's key that decrypts backups. A KeyObject contains the bytes, which no log can print. */
export interface EncryptionKey {
  /** Name of the key in the user's Secret. It is stored unencrypted in the files that the key encrypts. */
  readonly id: string;
  readonly key: KeyObject;
}

/** Bytes of a key: AES-256. */
const keyBytes = 32;

const idPattern = /^[-._a-zA-Z0-9]{1,253}$/;

/**
 * Reads a key in the format of `openssl rand -base64 32` or `head -c 32 /dev/urandom`. Throws a sentence for the user
 * if it is invalid, without its content.
 */
export function readEncryptionKey(id: string, content: Uint8Array): EncryptionKey {
  if (!idPattern.test(id))
    throw new Error(`"${id}" is not a valid name of an encryption key: use letters, digits, "-", "_" and "."`);
  return { id, key: createSecretKey(content.length === keyBytes ? content : decode(id, content)) };
}

function decode(id: string, content: Uint8Array): Buffer {
  const text = Buffer.from(content).toString('latin1').trim();
  const key = Buffer.from(text, 'base64');
  // Node ignores characters that are not base64, and so would derive a weak key from a passphrase.
  if (key.length === keyBytes && /^[A-Za-z0-9+/]{43}=$/.test(text)) return key;
  throw new Error(
    `encryption key "${id}" has ${content.length} bytes, but must have 32 bytes, plain or in base64: create one with "openssl rand -base64 32"`,
  );
}
