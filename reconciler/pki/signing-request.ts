import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { type CAContent, caExtensions, subjectOf } from './issue.ts';
import { algorithm, cryptoKeys } from './key.ts';
import { bundle } from './pem.ts';

/**
 * A request for a CA certificate with the public half of a key: PKCS#10, PEM. It contains the name and the usages,
 * which are also beside it: issuers differ in which of them they read, and cert-manager refuses a request in which they
 * differ.
 */
export function createSigningRequest({ commonName, pathLength }: CAContent, key: string): Promise<string> {
  return requestOf(subjectOf({ commonName, organizations: [] }), key, caExtensions(pathLength));
}

/** A request for a client certificate of a user in these groups, for the public half of a key: PKCS#10, PEM. */
export function createClientRequest(user: string, groups: readonly string[], key: string): Promise<string> {
  return requestOf(subjectOf({ commonName: user, organizations: groups }), key, []);
}

async function requestOf(name: x509.Name, key: string, extensions: x509.Extension[]): Promise<string> {
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name,
    keys: cryptoKeys(key),
    signingAlgorithm: algorithm,
    extensions,
  });
  return bundle(request.toString('pem'));
}
