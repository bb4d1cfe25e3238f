import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { KeyPair } from './issue.ts';
import { splitCertificates } from './pem.ts';
import { remembered } from './remembered.ts';
import type { Usage } from '../../constructs/control-plane/certificates/certificate-plans.ts';

/** Content of a certificate. */
export interface CertificateContent {
  readonly commonNames: readonly string[];
  readonly organizations: readonly string[];
  readonly usages: readonly (Usage | 'other')[];
  /** DNS names and addresses, in the form of the certificate. */
  readonly hosts: readonly string[];
  readonly isCA: boolean;
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/**
 * Reads the first certificate of a PEM text. It uses Node's parser, because that of the issuing library takes
 * milliseconds for each certificate, and every reconcile reads all of them.
 * @throws if there is none
 */
export const readCertificate = remembered((pem: string): CertificateContent => {
  const certificate = firstOf(pem);
  // Not its text, in which characters of names are escaped.
  const { CN = [], O = [] } = certificate.toLegacyObject().subject;
  return {
    commonNames: [CN].flat(),
    organizations: [O].flat(),
    usages: (certificate.keyUsage ?? []).map((oid) => usageByOid[oid] ?? 'other'),
    hosts: hostsOf(certificate.subjectAltName),
    isCA: certificate.ca,
    notBefore: certificate.validFromDate,
    notAfter: certificate.validToDate,
  };
});

const usageByOid: Readonly<Record<string, Usage>> = { '1.3.6.1.5.5.7.3.1': 'server', '1.3.6.1.5.5.7.3.2': 'client' };

/** `DNS:localhost, IP Address:127.0.0.1`. Names with unusual characters are quoted and match no plan. */
function hostsOf(alternativeName: string | undefined): string[] {
  const entries = alternativeName ? alternativeName.split(', ') : [];
  return entries.map((entry) => entry.slice(entry.indexOf(':') + 1));
}

/** Whether a key belongs to a certificate. @throws if one of them cannot be read */
export const isKeyOf = remembered((certificate: string, key: string) =>
  firstOf(certificate).checkPrivateKey(createPrivateKey(key)),
);

/** Whether the first certificate of `ca` has signed a certificate. @throws if one of them cannot be read */
export const isSignedBy = remembered((certificate: string, ca: string) => {
  const signer = firstOf(ca);
  const signed = firstOf(certificate);
  return signed.checkIssued(signer) && signed.verify(signer.publicKey);
});

/** Whether both can be read. */
export function isReadable({ certificate, key }: KeyPair): boolean {
  try {
    isKeyOf(certificate, key);
    return true;
  } catch {
    return false;
  }
}

function firstOf(pem: string): X509Certificate {
  return new X509Certificate(splitCertificates(pem)[0] ?? '');
}
