import 'reflect-metadata';
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  type webcrypto,
  X509Certificate as NodeCertificate,
} from 'node:crypto';
import { isIP } from 'node:net';
import * as x509 from '@peculiar/x509';
import { algorithm, createKey, cryptoKeys } from './key.ts';
import { parsedCertificate } from './parsed.ts';
import { bundle, splitCertificates } from './pem.ts';
import type { CAPlan, CertificatePlan } from '../../constructs/control-plane/certificates/certificate-plans.ts';

x509.cryptoProvider.set(crypto);

/** A certificate or public key with its private key, both PEM, as in `tls.crt` and `tls.key` of a Secret. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

export interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** How far the start of a certificate is backdated, for clocks that are behind. */
const backdateMs = 5 * 60_000;

/** From five minutes ago until `durationMs` from now, in whole seconds as in certificates. */
export function validFor(durationMs: number, now: Date): Validity {
  const second = (ms: number) => new Date(Math.floor(ms / 1000) * 1000);
  return { notBefore: second(now.getTime() - backdateMs), notAfter: second(now.getTime() + durationMs) };
}

/** When the operator issued a certificate. */
export function issuedAt({ notBefore }: Pick<Validity, 'notBefore'>): Date {
  return new Date(notBefore.getTime() + backdateMs);
}

/** The content of a CA certificate. */
export type CAContent = Pick<CAPlan, 'commonName' | 'pathLength'>;

/** Creates a self-signed CA with a new key. */
export async function createCA({ commonName, pathLength }: CAContent, validity: Validity): Promise<KeyPair> {
  const key = createKey();
  const keys = cryptoKeys(key);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [commonName] }],
    ...validity,
    signingAlgorithm: algorithm,
    keys,
    extensions: [...caExtensions(pathLength), await x509.SubjectKeyIdentifierExtension.create(keys.publicKey)],
  });
  return { certificate: bundle(certificate.toString('pem')), key };
}

/** The content of a certificate that is not one of a CA. */
export type LeafPlan = Omit<CertificatePlan, 'secret' | 'signer'>;

/**
 * Creates a certificate with a new key, signed by `ca`.
 * @throws if the CA's Secret has no usable certificate and key
 */
export async function issueCertificate(plan: LeafPlan, ca: KeyPair, validity: Validity): Promise<KeyPair> {
  const key = createKey();
  return { certificate: await signCertificate(plan, cryptoKeys(key).publicKey, ca, validity), key };
}

/**
 * Creates a certificate, PEM, for a key whose private half may be elsewhere, signed by `ca`.
 * @param publicKey the key, or its DER
 * @throws if the CA's Secret has no usable certificate and key
 */
export async function signCertificate(
  plan: LeafPlan,
  publicKey: webcrypto.CryptoKey | Buffer,
  ca: KeyPair,
  validity: Validity,
): Promise<string> {
  const signer = await signingCA(ca);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: subjectOf(plan),
    // The name object, not its text: text would be encoded again, and Go compares the bytes.
    issuer: signer.certificate.subjectName,
    // A leaf certificate that outlives its signer would only look valid.
    notBefore: validity.notBefore,
    notAfter: new Date(Math.min(validity.notAfter.getTime(), signer.certificate.notAfter.getTime())),
    signingAlgorithm: signer.algorithm,
    publicKey,
    signingKey: signer.key,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension(
        plan.usages.map((usage) =>
          usage === 'server' ? x509.ExtendedKeyUsage.serverAuth : x509.ExtendedKeyUsage.clientAuth,
        ),
      ),
      ...(plan.hosts.length > 0
        ? [
            new x509.SubjectAlternativeNameExtension(
              plan.hosts.map((host) => ({ type: isIP(host) ? ('ip' as const) : ('dns' as const), value: host })),
            ),
          ]
        : []),
      await authorityKeyIdentifier(signer.certificate),
      await x509.SubjectKeyIdentifierExtension.create(publicKey),
    ],
  });
  return bundle(certificate.toString('pem'));
}

/**
 * The subject of a certificate, or of a request for one. As plain text, a name could be another one: the library reads `#` and
 * hexadecimal digits as an encoding, and removes quotes and backslashes.
 */
export function subjectOf({ commonName, organizations }: Pick<LeafPlan, 'commonName' | 'organizations'>): x509.Name {
  const groups = organizations.map((utf8String) => ({ utf8String }));
  return new x509.Name([...(groups.length > 0 ? [{ O: groups }] : []), { CN: [{ utf8String: commonName }] }]);
}

/** Creates a key pair for service account tokens. The "certificate" is the PEM public key, as Cluster API stores it. */
export function createServiceAccountKey(): KeyPair {
  const key = createKey();
  return { certificate: createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString(), key };
}

/** The extensions of a CA certificate, or of a request for one. @param pathLength how many CAs may be below it; any number when undefined */
export function caExtensions(pathLength?: number): x509.Extension[] {
  const { digitalSignature, keyCertSign, cRLSign } = x509.KeyUsageFlags;
  return [
    new x509.BasicConstraintsExtension(true, pathLength, true),
    new x509.KeyUsagesExtension(digitalSignature | keyCertSign | cRLSign, true),
  ];
}

/** A CA is read once for the ten certificates that it signs when a control plane is brought up. */
const latest = new Map<string, SigningCA>();
const mostLatest = 16;

type SigningCA = ReturnType<typeof readSigningCA>;

/** The signing certificate and key of a CA. The first certificate signs. A user's own CA may have an RSA key. */
export async function signingCA(pair: KeyPair): Promise<SigningCA> {
  const identity = createHash('sha256').update(`${pair.certificate}\0${pair.key}`).digest('base64');
  const known = latest.get(identity) ?? readSigningCA(pair);
  latest.delete(identity);
  latest.set(identity, known);
  if (latest.size > mostLatest) latest.delete(latest.keys().next().value ?? '');
  return known;
}

function readSigningCA({ certificate, key }: KeyPair) {
  const [pem] = splitCertificates(certificate);
  if (!pem) throw new Error('the CA has no certificate in tls.crt');
  const privateKey = createPrivateKey(key);
  if (!new NodeCertificate(pem).checkPrivateKey(privateKey)) {
    throw new Error('the tls.key of the CA does not belong to its tls.crt');
  }
  const signing = signingAlgorithm(privateKey);
  return {
    certificate: parsedCertificate(pem),
    algorithm: signing,
    key: privateKey.toCryptoKey(signing, false, ['sign']),
  };
}

/**
 * The CA's own identifier of its key. Its creator chooses the hash, SHA-1 here and SHA-256 in newer Go versions.
 * OpenSSL refuses a certificate with another identifier.
 */
export async function authorityKeyIdentifier(ca: x509.X509Certificate): Promise<x509.Extension> {
  const own = ca.getExtension(x509.SubjectKeyIdentifierExtension);
  return own ? new x509.AuthorityKeyIdentifierExtension(own.keyId) : x509.AuthorityKeyIdentifierExtension.create(ca);
}

function signingAlgorithm(key: KeyObject) {
  const curve = key.asymmetricKeyDetails?.namedCurve;
  if (key.asymmetricKeyType === 'rsa') return { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
  if (curve === 'prime256v1') return algorithm;
  if (curve === 'secp384r1') return { name: 'ECDSA', namedCurve: 'P-384', hash: 'SHA-384' };
  throw new Error(`the key of the CA must be RSA, P-256 or P-384, not ${curve ?? key.asymmetricKeyType}`);
}
