import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { caExtensions } from '../issue.ts';
import { algorithm, cryptoKeys } from '../key.ts';
import { bundle } from '../pem.ts';

/**
 * A request for a CA certificate with the public half of a key: PKCS#10, PEM. It contains the name and the usages,
 * which are also beside it: issuers differ in which of them they read, and cert-manager refuses a request in which they
 * differ.
 */
export async function createSigningRequest(commonName: string, key: string): Promise<string> {
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: [{ CN: [commonName] }],
    keys: cryptoKeys(key),
    signingAlgorithm: algorithm,
    extensions: caExtensions(),
  });
  return bundle(request.toString('pem'));
}
