import { createSecretKey, type KeyObject } from 'node:crypto';

/** A key of the user's that opens backups. The bytes are inside a KeyObject, which no log can print. */
export interface EncryptionKey {
  /** Name of the key in the user's Secret. It is written in clear into what the key encrypts. */
  readonly id: string;
  readonly key: KeyObject;
}

/** Bytes of a key: AES-256. */
const keyBytes = 32;

const idPattern = /^[-._a-zA-Z0-9]{1,253}$/;

/**
 * Reads a key as `openssl rand -base64 32` or `head -c 32 /dev/urandom` writes it. Throws a sentence for the user when it
 * is none; it does not quote the content.
 */
export function readEncryptionKey(id: string, content: Uint8Array): EncryptionKey {
  if (!idPattern.test(id))
    throw new Error(`"${id}" cannot name an encryption key: use letters, digits, "-", "_" and "."`);
  return { id, key: createSecretKey(content.length === keyBytes ? content : decode(id, content)) };
}

function decode(id: string, content: Uint8Array): Buffer {
  const text = Buffer.from(content).toString('latin1').trim();
  const key = Buffer.from(text, 'base64');
  // Node leaves out what is not base64, and so would make a weak key of a pass phrase
  if (key.length === keyBytes && /^[A-Za-z0-9+/]{43}=$/.test(text)) return key;
  throw new Error(
    `encryption key "${id}" is ${content.length} bytes long and not 32 bytes, plain or in base64: make one with "openssl rand -base64 32"`,
  );
}
