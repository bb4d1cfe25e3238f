import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type webcrypto } from 'node:crypto';

/** The kind of every key that is made here. */
export const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/** A new private key, PEM. */
export function createKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: algorithm.namedCurve });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** A private key of `createKey` and its public half, as certificates are made with. */
export function cryptoKeys(key: string): webcrypto.CryptoKeyPair {
  const privateKey = createPrivateKey(key);
  return {
    privateKey: privateKey.toCryptoKey(algorithm, false, ['sign']),
    publicKey: createPublicKey(privateKey).toCryptoKey(algorithm, true, ['verify']),
  };
}

/**
 * Eight hexadecimal digits that are those of this key: of its public half, so that they can be shown.
 * @throws when the text is no private key
 */
export function keyHash(key: string): string {
  const spki = createPublicKey(createPrivateKey(key)).export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(spki).digest('hex').slice(0, 8);
}
