import { createHash } from 'node:crypto';
import { canonicalHost } from '../../constructs/cluster/canonical-host.ts';
import { isKeyOf, isReadable, isSignedBy, readCertificate } from './certificate.ts';
import type { KeyPair } from './issue.ts';
import { splitCertificates } from './pem.ts';
import { idOfPrivateKey, verifyingKeysOf } from './service-account-keys.ts';
import type { CertificatePlan } from '../../constructs/control-plane/certificates/certificate-plans.ts';

/** Why a certificate must be issued again. */
export interface Violation {
  readonly reason:
    | 'Missing'
    | 'Unreadable'
    | 'KeyMismatch'
    | 'OtherCA'
    | 'OtherSubject'
    | 'OtherUsages'
    | 'OtherHosts'
    | 'NotYetValid'
    | 'RenewalDue';
  readonly message: string;
}

export interface PolicyInput {
  readonly plan: CertificatePlan;
  /** Current content of the Secret, if it exists. */
  readonly current: KeyPair | undefined;
  /** PEM of the CA. The first certificate signs. */
  readonly ca: string;
  readonly now: Date;
}

type Existing = PolicyInput & { readonly current: KeyPair };

/** One requirement for a certificate. */
export interface PolicyCheck {
  /** The reason if the requirement is not met. */
  readonly reason: Violation['reason'];
  /** When a certificate is issued again for this reason, for users. */
  readonly when: string;
  /** The problem, as a sentence; undefined if there is none. */
  readonly problem: (input: Existing) => string | undefined;
}

/**
 * Whether a certificate must be issued, and why: the first violated check. This list is the policy. A check may rely on
 * previous checks.
 */
export const policyChecks: readonly PolicyCheck[] = [
  { reason: 'Unreadable', when: 'certificate or key cannot be read', problem: unreadable },
  { reason: 'KeyMismatch', when: 'the key does not belong to the certificate', problem: keyDiffers },
  { reason: 'OtherCA', when: 'its CA does not sign any more: another one does', problem: signedByOther },
  { reason: 'OtherSubject', when: 'user or groups differ from the plan', problem: subjectDiffers },
  { reason: 'OtherUsages', when: 'usages differ from the plan', problem: usagesDiffer },
  { reason: 'OtherHosts', when: 'host names and addresses differ from the plan', problem: hostsDiffer },
  { reason: 'NotYetValid', when: 'its life begins later: a clock was ahead when it was issued', problem: notYetValid },
  {
    reason: 'RenewalDue',
    when: 'half of its life has passed, and up to a tenth more so that a fleet does not renew at once',
    problem: dueForRenewal,
  },
];

/** Comes before all checks. */
export const missingCheck: Omit<PolicyCheck, 'problem'> = { reason: 'Missing', when: 'the Secret does not exist' };

/** Why a certificate must be issued; undefined if the current one may stay. */
export function mustIssue(input: PolicyInput): Violation | undefined {
  const { current, plan } = input;
  if (!current) return { reason: missingCheck.reason, message: `Secret ${plan.secret} does not exist` };
  for (const { reason, problem } of policyChecks) {
    const message = problem({ ...input, current });
    if (message !== undefined) return { reason, message };
  }
  return undefined;
}

/**
 * When a certificate is renewed: after half of its lifetime, up to a tenth later so that a fleet does not renew at
 * once.
 */
export function renewalTime(certificate: string, identity: string): Date {
  const { notBefore, notAfter } = readCertificate(certificate);
  const life = notAfter.getTime() - notBefore.getTime();
  return new Date(notBefore.getTime() + life * (0.5 + 0.1 * fractionOf(identity)));
}

/** The problem with a CA, as a sentence for the user; undefined if it can sign. */
export function caProblem(secret: string, pair: KeyPair, now: Date): string | undefined {
  if (splitCertificates(pair.certificate).length === 0) return `Secret ${secret} has no certificate in tls.crt`;
  try {
    const { isCA, notBefore, notAfter } = readCertificate(pair.certificate);
    if (!isCA) return `the certificate in Secret ${secret} is not a CA certificate (basic constraints CA: false)`;
    if (!isKeyOf(pair.certificate, pair.key)) return `tls.key in Secret ${secret} does not belong to its tls.crt`;
    if (now < notBefore) return `the CA in Secret ${secret} is not valid before ${notBefore.toISOString()}`;
    if (now > notAfter) return `the CA in Secret ${secret} expired on ${notAfter.toISOString()}`;
    return undefined;
  } catch {
    return `Secret ${secret} contains no readable certificate and key in tls.crt and tls.key`;
  }
}

/** The problem with a pair of service account keys, whose first public key signs, as a sentence for the user. */
export function keyProblem(secret: string, pair: KeyPair): string | undefined {
  try {
    const [signer] = verifyingKeysOf(pair.certificate);
    return idOfPrivateKey(pair.key) === signer?.id
      ? undefined
      : `tls.key in Secret ${secret} does not belong to its tls.crt, of which the first key signs`;
  } catch {
    return `Secret ${secret} contains no readable public key in tls.crt and private key in tls.key`;
  }
}

/** A number from 0 to 1 that is constant for an identity. */
function fractionOf(identity: string): number {
  return createHash('sha256').update(identity).digest().readUInt32BE() / 2 ** 32;
}

function unreadable({ current, plan }: Existing): string | undefined {
  return isReadable(current) ? undefined : `Secret ${plan.secret} contains no readable certificate and key`;
}

function keyDiffers({ current, plan }: Existing): string | undefined {
  return isKeyOf(current.certificate, current.key)
    ? undefined
    : `the key in Secret ${plan.secret} does not belong to its certificate`;
}

function signedByOther({ current, ca, plan }: Existing): string | undefined {
  return isSignedBy(current.certificate, ca)
    ? undefined
    : `${plan.secret} was not signed by the current ${plan.signer} CA`;
}

function subjectDiffers({ current, plan }: Existing): string | undefined {
  const { commonNames, organizations } = readCertificate(current.certificate);
  const isSame = equalSets(commonNames, [plan.commonName]) && equalSets(organizations, plan.organizations);
  return isSame ? undefined : `${plan.secret} is for another user`;
}

function usagesDiffer({ current, plan }: Existing): string | undefined {
  return equalSets(readCertificate(current.certificate).usages, plan.usages)
    ? undefined
    : `${plan.secret} is not for ${plan.usages.join(' and ')} use`;
}

function hostsDiffer({ current, plan }: Existing): string | undefined {
  const given = readCertificate(current.certificate).hosts.map(canonicalHost);
  return equalSets(given, plan.hosts.map(canonicalHost))
    ? undefined
    : `${plan.secret} is not valid for exactly ${plan.hosts.join(', ')}`;
}

function notYetValid({ current, plan, now }: Existing): string | undefined {
  const { notBefore } = readCertificate(current.certificate);
  return now < notBefore ? `${plan.secret} is not valid before ${notBefore.toISOString()}` : undefined;
}

function dueForRenewal({ current, plan, now }: Existing): string | undefined {
  const due = renewalTime(current.certificate, plan.secret);
  return now < due ? undefined : `${plan.secret} is due for renewal since ${due.toISOString()}`;
}

function equalSets(a: readonly string[], b: readonly string[]): boolean {
  const left = new Set(a);
  return left.size === new Set(b).size && b.every((entry) => left.has(entry));
}
