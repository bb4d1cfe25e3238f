import 'reflect-metadata';
import type { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

x509.cryptoProvider.set(crypto);

const p256 = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** A PKCS #10 request with a new key, as in the field `request` of a CertificateSigningRequest. */
export async function encodedRequest(
  name: x509.JsonName,
  extensions: readonly x509.Extension[] = [],
  signingAlgorithm: webcrypto.EcKeyGenParams | webcrypto.RsaHashedKeyGenParams = p256,
): Promise<string> {
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name,
    keys: await crypto.subtle.generateKey(signingAlgorithm, true, ['sign', 'verify']),
    signingAlgorithm: { hash: 'SHA-256', ...signingAlgorithm },
    extensions: [...extensions],
  });
  return Buffer.from(request.toString('pem')).toString('base64');
}
