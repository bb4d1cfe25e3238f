import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { splitPublicKeys } from './pem.ts';

/** A key whose service account tokens are accepted. */
export interface VerifyingKey {
  /** As API servers name it, in the header of tokens and in the set of keys they publish. */
  readonly id: string;
  readonly pem: string;
}

/**
 * The public keys of a text, of which the first one signs.
 * @throws when there is none, or one cannot be read
 */
export function verifyingKeysOf(text: string): VerifyingKey[] {
  const blocks = splitPublicKeys(text);
  return (blocks.length > 0 ? blocks : [text]).map((pem) => ({ id: idOf(createPublicKey(pem)), pem }));
}

/** The id of the key that belongs to a private key. @throws when it cannot be read */
export function idOfPrivateKey(pem: string): string {
  return idOf(createPublicKey(createPrivateKey(pem)));
}

/** What Kubernetes derives from a public key: its SHA-256. */
function idOf(key: KeyObject): string {
  return createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('base64url');
}
