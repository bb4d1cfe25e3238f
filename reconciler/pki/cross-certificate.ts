import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { readCertificate } from './certificate.ts';
import { caExtensions, authorityKeyIdentifier, type KeyPair, signingCA, validFor } from './issue.ts';
import { parsedCertificate } from './parsed.ts';
import { bundle, splitCertificates } from './pem.ts';

/** The key of a CA's Secret that contains its cross certificates. */
export const crossKey = 'cross.crt';

/**
 * A certificate of a CA that its predecessor has signed: same subject and key, another issuer. Served after a leaf
 * certificate, it lets clients that trust only the predecessor verify the leaf.
 * @param successor PEM of the CA; only the first certificate is used
 * @throws if one of them is unusable
 */
export async function crossCertify(successor: string, predecessor: KeyPair, now: Date): Promise<string> {
  const subject = parsedCertificate(splitCertificates(successor)[0] ?? '');
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

/** As in the certificate itself, because a user's CA may derive it differently. */
async function subjectKeyIdentifier(certificate: x509.X509Certificate): Promise<x509.SubjectKeyIdentifierExtension> {
  return (
    certificate.getExtension(x509.SubjectKeyIdentifierExtension) ??
    (await x509.SubjectKeyIdentifierExtension.create(certificate.publicKey))
  );
}

/** The certificates of a PEM bundle that have not expired. */
export function validChain(certificates: string, now: Date): string[] {
  return splitCertificates(certificates).filter((certificate) => readCertificate(certificate).notAfter > now);
}
