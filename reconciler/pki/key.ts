import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type webcrypto } from 'node:crypto';

/** The algorithm of every key that the operator creates. */
export const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/** Creates a private key, PEM. */
export function createKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: algorithm.namedCurve });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** A private key of `createKey` and its public half, in the form that the issuing library needs. */
export function cryptoKeys(key: string): webcrypto.CryptoKeyPair {
  const privateKey = createPrivateKey(key);
  return {
    privateKey: privateKey.toCryptoKey(algorithm, false, ['sign']),
    publicKey: createPublicKey(privateKey).toCryptoKey(algorithm, true, ['verify']),
  };
}

/**
 * Eight hexadecimal digits that identify this key. They derive from its public half, so that they can be shown.
 * @throws if the text is not a private key
 */
export function keyHash(key: string): string {
  const spki = createPublicKey(createPrivateKey(key)).export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(spki).digest('hex').slice(0, 8);
}
