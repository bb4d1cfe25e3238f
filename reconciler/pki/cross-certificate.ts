import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { readCertificate } from './certificate.ts';
import { caExtensions, authorityKeyIdentifier, type KeyPair, signingCA, validFor } from './issue.ts';
import { bundle, splitCertificates } from './pem.ts';

/** The key of an authority's Secret under which its cross certificates are. */
export const crossKey = 'cross.crt';

/**
 * A certificate of an authority by its predecessor: same subject and key, another issuer. Served behind a leaf, it lets
 * whoever trusts only the predecessor verify the leaf too.
 * @param successor PEM of the authority; the first certificate counts
 * @throws when one of them is not usable
 */
export async function crossCertify(successor: string, predecessor: KeyPair, now: Date): Promise<string> {
  const subject = new x509.X509Certificate(splitCertificates(successor)[0] ?? '');
  const signer = await signingCA(predecessor);
  const end = Math.min(subject.notAfter.getTime(), signer.certificate.notAfter.getTime());
  const certificate = await x509.X509CertificateGenerator.create({
    subject: subject.subjectName,
    issuer: signer.certificate.subjectName,
    ...validFor(end - now.getTime(), now),
    signingAlgorithm: signer.algorithm,
    publicKey: subject.publicKey,
    signingKey: signer.key,
    extensions: [
      ...caExtensions(),
      await authorityKeyIdentifier(signer.certificate),
      await subjectKeyIdentifier(subject),
    ],
  });
  return bundle(certificate.toString('pem'));
}

/** As the certificate itself says: a user's authority may have made it in another way than we do. */
async function subjectKeyIdentifier(certificate: x509.X509Certificate): Promise<x509.SubjectKeyIdentifierExtension> {
  return (
    certificate.getExtension(x509.SubjectKeyIdentifierExtension) ??
    (await x509.SubjectKeyIdentifierExtension.create(certificate.publicKey))
  );
}

/** Those of a PEM bundle that have not expired. */
export function validChain(certificates: string, now: Date): string[] {
  return splitCertificates(certificates).filter((certificate) => readCertificate(certificate).notAfter > now);
}
