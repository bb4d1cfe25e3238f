import type { CertificateRole } from '../../constructs/control-plane/certificates/kinds.ts';
import type { PlannedCertificate } from '../../constructs/control-plane/certificates/overview.ts';
import { isControlledBy } from '../kube/object.ts';
import { type CertificateContent, readCertificate } from '../pki/certificate.ts';
import { certificateIn, isExpiring } from '../certificates/expiries.ts';
import type { KeyPair } from '../pki/issue.ts';
import { clientOf } from '../pki/kubeconfig.ts';
import { splitCertificates } from '../pki/pem.ts';
import { caProblem, mustIssue, renewalTime } from '../pki/policy.ts';
import { successorSecretName } from '../../constructs/cluster/names.ts';
import { pairOf, type SecretObject, valueOf } from '../pki/secret.ts';
import type { Meaning } from './view.ts';

/** The state of one planned certificate. */
export interface CertificateState {
  readonly planned: PlannedCertificate;
  readonly notAfter?: Date | undefined;
  /** Time at which the operator renews or replaces it; missing for certificates that the user provides. */
  readonly renewsAt?: Date | undefined;
  /** One word or sentence: `ok`, or the problem. */
  readonly state: string;
  /** What the state is to a person: `fails` when one has to act. */
  readonly level: Meaning;
}

type Judged = Pick<CertificateState, 'state' | 'level'>;

export interface StatesProps {
  readonly planned: readonly PlannedCertificate[];
  /** Secrets by name. */
  readonly secrets: ReadonlyMap<string, SecretObject>;
  /** UID of the HostedControlPlane. */
  readonly uid: string | undefined;
  readonly now: Date;
}

/** Compares the planned with the existing certificates, by the policy that issues them. */
export function certificateStates({ planned, secrets, uid, now }: StatesProps): CertificateState[] {
  const caCertificates = new Map(
    planned.flatMap((entry) => (entry.kind === 'ca' ? [[entry.role, secrets.get(entry.secret)] as const] : [])),
  );
  return planned.map((entry) => {
    const object = secrets.get(entry.secret);
    if (!object) return { planned: entry, state: 'due: Missing', level: 'waits' };
    const certificate = certificateIn(object, entry.role);
    const content = certificate === undefined ? undefined : readable(certificate);
    const isOurs = isControlledBy(object, uid);
    const problem =
      entry.kind === 'ca'
        ? caState(object, secrets.has(successorSecretName(entry.secret)), now)
        : isOurs
          ? leafState(entry, object, caCertificates, now)
          : undefined;
    const { state, level } = problem ?? (content && isExpiring(content, now) ? expiresSoon : ok);
    return {
      planned: entry,
      notAfter: content?.notAfter,
      renewsAt: isOurs && content && certificate ? renewalTime(certificate, entry.secret) : undefined,
      state: isOurs ? state : `${state}, provided by a user`,
      level,
    };
  });
}

const ok: Judged = { state: 'ok', level: 'ok' };
const expiresSoon: Judged = { state: 'expires soon', level: 'fails' };

const waits = (state: string): Judged => ({ state, level: 'waits' });

function caState(object: SecretObject, hasSuccessor: boolean, now: Date): Judged | undefined {
  const secret = object.metadata.name;
  const pair = pairOf(object);
  const problem = pair ? caProblem(secret, pair, now) : `Secret ${secret} lacks tls.crt or tls.key`;
  if (problem !== undefined) return { state: `unusable: ${problem}`, level: 'fails' };
  const trusted = splitCertificates(pair?.certificate ?? '').length;
  if (trusted > 1) return waits(`being replaced: ${trusted} CAs are trusted`);
  return hasSuccessor ? waits(`its successor is in Secret ${successorSecretName(secret)}`) : undefined;
}

/** Role of the Secret of each CA. */
const caRoles = { cluster: 'clusterCA', etcd: 'etcdCA', proxy: 'frontProxyCA' } as const;

function leafState(
  { plan }: Extract<PlannedCertificate, { kind: 'leaf' }>,
  object: SecretObject,
  caCertificates: ReadonlyMap<CertificateRole, SecretObject | undefined>,
  now: Date,
): Judged | undefined {
  const ca = valueOf(caCertificates.get(caRoles[plan.signer]), 'tls.crt');
  if (ca === undefined) return { state: `unknown: the ${plan.signer} CA does not exist`, level: 'unknown' };
  const violation = mustIssue({ plan, current: currentOf(object), ca, now });
  return violation && waits(`due: ${violation.reason}: ${violation.message}`);
}

function currentOf(object: SecretObject): KeyPair | undefined {
  return object.data?.['value'] === undefined ? pairOf(object) : clientOf(valueOf(object, 'value'));
}

function readable(certificate: string): CertificateContent | undefined {
  try {
    return readCertificate(certificate);
  } catch {
    return undefined;
  }
}
