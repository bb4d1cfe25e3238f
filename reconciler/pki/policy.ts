import { createHash, createPrivateKey, createPublicKey } from 'node:crypto';
import { canonicalHost } from '../../constructs/control-plane/canonical-host.ts';
import { isKeyOf, isReadable, isSignedBy, readCertificate } from './certificate.ts';
import type { KeyPair } from './issue.ts';
import { splitCertificates } from './pem.ts';
import type { CertificatePlan } from '../../constructs/control-plane/certificates/plan.ts';

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
  const { notBefore, notAfter } = readCertificate(certificate);
  const life = notAfter.getTime() - notBefore.getTime();
  return new Date(notBefore.getTime() + life * (0.5 + 0.1 * fractionOf(identity)));
}

/** What is wrong with a certificate authority, as a sentence for a person; undefined when it can sign. */
export function authorityProblem(secret: string, pair: KeyPair, now: Date): string | undefined {
  if (splitCertificates(pair.certificate).length === 0) return `Secret ${secret} has no certificate in tls.crt`;
  try {
    const { isAuthority, notAfter } = readCertificate(pair.certificate);
    if (!isAuthority)
      return `the certificate in Secret ${secret} is not that of an authority (basic constraints CA: false)`;
    if (!isKeyOf(pair.certificate, pair.key)) return `tls.key in Secret ${secret} does not belong to its tls.crt`;
    if (now > notAfter) return `the authority in Secret ${secret} expired on ${notAfter.toISOString()}`;
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

const readable: Check = ({ current, plan }) =>
  isReadable(current)
    ? undefined
    : { reason: 'Unreadable', message: `Secret ${plan.secret} holds no readable certificate and key` };

const keyMatches: Check = ({ current, plan }) =>
  isKeyOf(current.certificate, current.key)
    ? undefined
    : { reason: 'KeyMismatch', message: `the key in Secret ${plan.secret} does not belong to its certificate` };

const signedByAuthority: Check = ({ current, authority, plan }) =>
  isSignedBy(current.certificate, authority)
    ? undefined
    : { reason: 'OtherAuthority', message: `${plan.secret} was not signed by the present ${plan.signer} authority` };

const subjectAsPlanned: Check = ({ current, plan }) => {
  const { commonNames, organizations } = readCertificate(current.certificate);
  const same = equalSets(commonNames, [plan.commonName]) && equalSets(organizations, plan.organizations);
  return same ? undefined : { reason: 'OtherSubject', message: `${plan.secret} is for another user` };
};

const usagesAsPlanned: Check = ({ current, plan }) =>
  equalSets(readCertificate(current.certificate).usages, plan.usages)
    ? undefined
    : { reason: 'OtherUsages', message: `${plan.secret} is not for ${plan.usages.join(' and ')} use` };

const hostsAsPlanned: Check = ({ current, plan }) => {
  const given = readCertificate(current.certificate).hosts.map(canonicalHost);
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

function equalSets(a: readonly string[], b: readonly string[]): boolean {
  const left = new Set(a);
  return left.size === new Set(b).size && b.every((entry) => left.has(entry));
}
