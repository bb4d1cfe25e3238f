import type { CertificateRole } from '../../constructs/control-plane/certificates/kinds.ts';
import type { PlannedCertificate } from '../../constructs/control-plane/certificates/overview.ts';
import { isControlledBy } from '../kube/object.ts';
import { type CertificateContent, readCertificate } from '../pki/certificate.ts';
import { certificateIn, isExpiring } from '../pki/expiries.ts';
import type { KeyPair } from '../pki/issue.ts';
import { clientOf } from '../pki/kubeconfig.ts';
import { splitCertificates } from '../pki/pem.ts';
import { caProblem, mustIssue, renewalTime } from '../pki/policy.ts';
import { successorSecretName } from '../../constructs/cluster/names.ts';
import { pairOf, type SecretObject, valueOf } from '../pki/secret.ts';

/** What there is of one planned certificate. */
export interface CertificateState {
  readonly planned: PlannedCertificate;
  readonly notAfter?: Date | undefined;
  /** When it is renewed, or replaced, by itself; missing for what the user has put there. */
  readonly renewsAt?: Date | undefined;
  /** One word or sentence: `ok`, or what is the matter. */
  readonly state: string;
}

export interface StatesProps {
  readonly planned: readonly PlannedCertificate[];
  /** By name. */
  readonly secrets: ReadonlyMap<string, SecretObject>;
  /** Of the HostedControlPlane. */
  readonly uid: string | undefined;
  readonly now: Date;
}

/** Compares what is planned with what there is, by the policy that issues. */
export function certificateStates({ planned, secrets, uid, now }: StatesProps): CertificateState[] {
  const caCertificates = new Map(
    planned.flatMap((entry) => (entry.kind === 'ca' ? [[entry.role, secrets.get(entry.secret)] as const] : [])),
  );
  return planned.map((entry) => {
    const object = secrets.get(entry.secret);
    if (!object) return { planned: entry, state: 'due: Missing' };
    const certificate = certificateIn(object, entry.role);
    const content = certificate === undefined ? undefined : readable(certificate);
    const isOurs = isControlledBy(object, uid);
    const problem =
      entry.kind === 'ca'
        ? caState(object, secrets.has(successorSecretName(entry.secret)), now)
        : isOurs
          ? leafState(entry, object, caCertificates, now)
          : undefined;
    const state = problem ?? (content && isExpiring(content, now) ? 'ends soon' : 'ok');
    return {
      planned: entry,
      notAfter: content?.notAfter,
      renewsAt: isOurs && content && certificate ? renewalTime(certificate, entry.secret) : undefined,
      state: isOurs ? state : `${state}, put there by a user`,
    };
  });
}

function caState(object: SecretObject, hasSuccessor: boolean, now: Date): string | undefined {
  const secret = object.metadata.name;
  const pair = pairOf(object);
  const problem = pair ? caProblem(secret, pair, now) : `Secret ${secret} lacks tls.crt or tls.key`;
  if (problem !== undefined) return `unusable: ${problem}`;
  const trusted = splitCertificates(pair?.certificate ?? '').length;
  if (trusted > 1) return `being replaced: ${trusted} are trusted`;
  return hasSuccessor ? `its successor waits in Secret ${successorSecretName(secret)}` : undefined;
}

/** The roles of what signs certificates. */
const caRoles = { cluster: 'clusterCA', etcd: 'etcdCA', proxy: 'frontProxyCA' } as const;

function leafState(
  { plan }: Extract<PlannedCertificate, { kind: 'leaf' }>,
  object: SecretObject,
  caCertificates: ReadonlyMap<CertificateRole, SecretObject | undefined>,
  now: Date,
): string | undefined {
  const ca = valueOf(caCertificates.get(caRoles[plan.signer]), 'tls.crt');
  if (ca === undefined) return `unknown: there is no ${plan.signer} CA`;
  const violation = mustIssue({ plan, current: currentOf(object), ca, now });
  return violation && `due: ${violation.reason}: ${violation.message}`;
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
