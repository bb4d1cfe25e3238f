import 'reflect-metadata';
import { X509Certificate as NodeCertificate } from 'node:crypto';
import * as x509 from '@peculiar/x509';

// The issuing library gets DER only. Its pattern for PEM takes time without end for texts that tenants can write: each line that
// begins with a blank may be a header of its own or a part of the one before.

/** The first certificate of a PEM text, in the form of the issuing library. @throws if there is none */
export function parsedCertificate(pem: string): x509.X509Certificate {
  return new x509.X509Certificate(new NodeCertificate(pem).raw);
}

/** One block and nothing else: Go ignores what is around it, which is nothing that a client needs. */
const onlyRequest =
  /^-----BEGIN CERTIFICATE REQUEST-----\r?\n([A-Za-z0-9+/=\r\n]+)-----END CERTIFICATE REQUEST-----\s*$/;

/** The first byte of DER of a sequence. With another one the library takes the bytes for a text. */
const sequence = 0x30;

/** A PKCS #10 request in PEM, in the form of the issuing library. @throws if it is anything else */
export function parsedRequest(pem: string): x509.Pkcs10CertificateRequest {
  const der = Buffer.from(onlyRequest.exec(pem)?.[1] ?? '', 'base64');
  if (der[0] !== sequence) throw new Error('it is not a certificate request in PEM');
  return new x509.Pkcs10CertificateRequest(der);
}
