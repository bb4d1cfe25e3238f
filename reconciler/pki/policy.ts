import { createHash, createPrivateKey, createPublicKey, X509Certificate as NodeCertificate } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import type { KeyPair } from './issue.ts';
import { splitCertificates } from './pem.ts';
import { canonicalHost, type CertificatePlan } from './plan.ts';

/** Why a certificate must be issued again. */
export interface Violation {
  readonly reason:
    | 'Missing'
    | 'Unreadable'
    | 'KeyMismatch'
    | 'OtherAuthority'
    | 'OtherSubject'
    | 'OtherUsages'
    | 'OtherHosts'
    | 'RenewalDue';
  readonly message: string;
}

export interface PolicyInput {
  readonly plan: CertificatePlan;
  /** What the Secret holds now, if it exists. */
  readonly current: KeyPair | undefined;
  /** PEM of the authority; the first certificate is the one that signs. */
  readonly authority: string;
  readonly now: Date;
}

type Check = (input: PolicyInput & { readonly current: KeyPair }) => Violation | undefined;

/**
 * Whether a certificate must be issued, and why: the first violated check. Reading this list is reading the policy.
 * A check may rely on the ones before it.
 */
export function mustIssue(input: PolicyInput): Violation | undefined {
  const { current, plan } = input;
  if (!current) return { reason: 'Missing', message: `Secret ${plan.secret} does not exist` };
  const checks: readonly Check[] = [
    readable,
    keyMatches,
    signedByAuthority,
    subjectAsPlanned,
    usagesAsPlanned,
    hostsAsPlanned,
    notDueForRenewal,
  ];
  for (const check of checks) {
    const violation = check({ ...input, current });
    if (violation) return violation;
  }
  return undefined;
}

/** When a certificate is renewed: at half of its life, up to a tenth later so that a fleet does not renew at once. */
export function renewalTime(certificate: string, identity: string): Date {
  const parsed = new x509.X509Certificate(firstOf(certificate));
  const start = parsed.notBefore.getTime();
  const life = parsed.notAfter.getTime() - start;
  return new Date(start + life * (0.5 + 0.1 * fractionOf(identity)));
}

/** What is wrong with a certificate authority, as a sentence for a person; undefined when it can sign. */
export function authorityProblem(secret: string, pair: KeyPair, now: Date): string | undefined {
  const [first] = splitCertificates(pair.certificate);
  if (!first) return `Secret ${secret} has no certificate in tls.crt`;
  try {
    const certificate = new NodeCertificate(first);
    if (!certificate.ca)
      return `the certificate in Secret ${secret} is not that of an authority (basic constraints CA: false)`;
    if (!certificate.checkPrivateKey(createPrivateKey(pair.key)))
      return `tls.key in Secret ${secret} does not belong to its tls.crt`;
    if (now > new Date(certificate.validTo))
      return `the authority in Secret ${secret} expired on ${certificate.validTo}`;
    return undefined;
  } catch {
    return `Secret ${secret} holds no readable certificate and key in tls.crt and tls.key`;
  }
}

/** What is wrong with a service account key pair, as a sentence for a person. */
export function keyProblem(secret: string, pair: KeyPair): string | undefined {
  try {
    const derived = createPublicKey(createPrivateKey(pair.key)).export({ type: 'spki', format: 'der' });
    const given = createPublicKey(pair.certificate).export({ type: 'spki', format: 'der' });
    return derived.equals(given) ? undefined : `tls.key in Secret ${secret} does not belong to its tls.crt`;
  } catch {
    return `Secret ${secret} holds no readable public key in tls.crt and private key in tls.key`;
  }
}

/** A number from 0 to 1 that is always the same for one identity. */
function fractionOf(identity: string): number {
  return createHash('sha256').update(identity).digest().readUInt32BE() / 2 ** 32;
}

const readable: Check = ({ current, plan }) => {
  try {
    void new NodeCertificate(firstOf(current.certificate));
    createPrivateKey(current.key);
    return undefined;
  } catch {
    return { reason: 'Unreadable', message: `Secret ${plan.secret} holds no readable certificate and key` };
  }
};

const keyMatches: Check = ({ current, plan }) =>
  new NodeCertificate(firstOf(current.certificate)).checkPrivateKey(createPrivateKey(current.key))
    ? undefined
    : { reason: 'KeyMismatch', message: `the key in Secret ${plan.secret} does not belong to its certificate` };

const signedByAuthority: Check = ({ current, authority, plan }) => {
  const signer = new NodeCertificate(firstOf(authority));
  const certificate = new NodeCertificate(firstOf(current.certificate));
  return certificate.checkIssued(signer) && certificate.verify(signer.publicKey)
    ? undefined
    : { reason: 'OtherAuthority', message: `${plan.secret} was not signed by the present ${plan.signer} authority` };
};

const subjectAsPlanned: Check = ({ current, plan }) => {
  const name = parse(current).subjectName;
  const same = equalSets(name.getField('CN'), [plan.commonName]) && equalSets(name.getField('O'), plan.organizations);
  return same ? undefined : { reason: 'OtherSubject', message: `${plan.secret} is for another user` };
};

const usagesAsPlanned: Check = ({ current, plan }) => {
  const given = parse(current).getExtension(x509.ExtendedKeyUsageExtension)?.usages.map(String) ?? [];
  const wanted = plan.usages.map((usage) =>
    usage === 'server' ? x509.ExtendedKeyUsage.serverAuth : x509.ExtendedKeyUsage.clientAuth,
  );
  return equalSets(given, wanted)
    ? undefined
    : { reason: 'OtherUsages', message: `${plan.secret} is not for ${plan.usages.join(' and ')} use` };
};

const hostsAsPlanned: Check = ({ current, plan }) => {
  const names = parse(current).getExtension(x509.SubjectAlternativeNameExtension)?.names.items ?? [];
  const given = names.map(({ value }) => canonicalHost(value));
  return equalSets(given, plan.hosts.map(canonicalHost))
    ? undefined
    : { reason: 'OtherHosts', message: `${plan.secret} is not valid for exactly ${plan.hosts.join(', ')}` };
};

const notDueForRenewal: Check = ({ current, plan, now }) => {
  const due = renewalTime(current.certificate, plan.secret);
  return now < due
    ? undefined
    : { reason: 'RenewalDue', message: `${plan.secret} is due for renewal since ${due.toISOString()}` };
};

function parse({ certificate }: KeyPair): x509.X509Certificate {
  return new x509.X509Certificate(firstOf(certificate));
}

function firstOf(pem: string): string {
  return splitCertificates(pem)[0] ?? '';
}

function equalSets(a: readonly string[], b: readonly string[]): boolean {
  const left = new Set(a);
  return left.size === new Set(b).size && b.every((entry) => left.has(entry));
}
