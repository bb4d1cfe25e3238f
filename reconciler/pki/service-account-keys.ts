import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { splitPublicKeys } from './pem.ts';

/** A key whose service account tokens are accepted. */
export interface VerifyingKey {
  /** ID of the key in API servers: in the header of tokens, and in the published key set. */
  readonly id: string;
  readonly pem: string;
}

/**
 * The public keys of a text. The first one signs.
 * @throws if there is none, or one cannot be read
 */
export function verifyingKeysOf(text: string): VerifyingKey[] {
  const blocks = splitPublicKeys(text);
  return (blocks.length > 0 ? blocks : [text]).map((pem) => ({ id: idOf(createPublicKey(pem)), pem }));
}

/** The ID of a private key. @throws if it cannot be read */
export function idOfPrivateKey(pem: string): string {
  return idOf(createPublicKey(createPrivateKey(pem)));
}

/** Kubernetes derives it from the public key: its SHA-256. */
function idOf(key: KeyObject): string {
  return createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('base64url');
}
