import 'reflect-metadata';
import { createHash, createPrivateKey, createPublicKey } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { createCA, type KeyPair, validFor } from '../../reconciler/pki/issue.ts';
import { bundle } from '../../reconciler/pki/pem.ts';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const hourMs = 3_600_000;

export interface SignOptions {
  readonly now: Date;
  readonly hours?: number;
  readonly commonName?: string;
  readonly extensions?: readonly x509.Extension[];
}

/** Extensions of a CA certificate as Go writes them: key ids are SHA-256. */
export function caExtensions(publicKey: Buffer, pathLength?: number): x509.Extension[] {
  return [
    new x509.BasicConstraintsExtension(true, pathLength, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
    new x509.SubjectKeyIdentifierExtension(createHash('sha256').update(publicKey).digest('hex').slice(0, 40)),
  ];
}

/** A CA that signs every request, as an issuer of cert-manager does. */
export class SigningIssuer {
  readonly root: KeyPair;

  private constructor(root: KeyPair) {
    this.root = root;
  }

  static async create(now: Date): Promise<SigningIssuer> {
    return new SigningIssuer(await createCA({ commonName: 'issuer' }, validFor(100_000 * hourMs, now)));
  }

  /** The certificate for a PKCS#10 request, both PEM. */
  async sign(signingRequest: string, options: SignOptions): Promise<string> {
    const { now, hours = 1000, commonName, extensions } = options;
    const request = new x509.Pkcs10CertificateRequest(signingRequest);
    if (!(await request.verify())) throw new Error('the signature of the request is wrong');
    const key = Buffer.from(request.publicKey.rawData);
    const certificate = await x509.X509CertificateGenerator.create({
      subject: commonName === undefined ? request.subjectName : `CN=${commonName}`,
      issuer: new x509.X509Certificate(this.root.certificate).subjectName,
      ...validFor(hours * hourMs, now),
      signingAlgorithm: algorithm,
      publicKey: request.publicKey,
      signingKey: createPrivateKey(this.root.key).toCryptoKey(algorithm, false, ['sign']),
      extensions: [...(extensions ?? caExtensions(key))],
    });
    return bundle(certificate.toString('pem'));
  }
}

/** The public key as a text to compare. */
export function publicHalf(key: string): string {
  return createPublicKey(createPrivateKey(key)).export({ type: 'spki', format: 'pem' }).toString();
}
