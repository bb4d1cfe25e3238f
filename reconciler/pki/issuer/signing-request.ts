import 'reflect-metadata';
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { bundle } from '../pem.ts';

x509.cryptoProvider.set(crypto);

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/** A new private key, PEM. */
export function createKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: algorithm.namedCurve });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/**
 * Eight hexadecimal digits that are those of this key: of its public half, so that they can be shown.
 * @throws when the text is no private key
 */
export function keyHash(key: string): string {
  const spki = createPublicKey(createPrivateKey(key)).export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(spki).digest('hex').slice(0, 8);
}

/**
 * A request to have the public half of a key certified as an authority: PKCS#10, PEM. Name and usages are in it as well
 * as beside it, because issuers differ in which of them they read, and cert-manager refuses a request where they differ.
 */
export async function createSigningRequest(commonName: string, key: string): Promise<string> {
  const privateKey = createPrivateKey(key);
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: [{ CN: [commonName] }],
    keys: {
      privateKey: privateKey.toCryptoKey(algorithm, false, ['sign']),
      publicKey: createPublicKey(privateKey).toCryptoKey(algorithm, true, ['verify']),
    },
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(
        x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign,
        true,
      ),
    ],
  });
  return bundle(request.toString('pem'));
}
