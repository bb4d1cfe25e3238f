import { adoptUsersObject, recheckMs } from '../../management/users-objects.ts';
import type { ConditionReason } from '../../../constructs/api/conditions.ts';
import { Secret } from '../../../constructs/api/resources.ts';
import { successorSecretName } from '../../../constructs/cluster/names.ts';
import { isControlledBy } from '../../kube/object.ts';
import { readCertificate } from '../../pki/certificate.ts';
import { expiringFrom, isExpiring } from '../../pki/expiries.ts';
import { withdrawRequest } from '../../pki/issuer/clear-requests.ts';
import { obtainCA } from '../../pki/issuer/obtain-ca.ts';
import { fingerprint, signerFingerprint, splitCertificates } from '../../pki/pem.ts';
import { caProblem, renewalTime } from '../../pki/policy.ts';
import { pairSecret, type SecretObject } from '../../pki/secret.ts';
import { secretProps } from '../../pki/secret-props.ts';
import type { CARotationContext } from './context.ts';
import { planRotation, type RotationState } from './plan.ts';
import type { PendingConsumers } from './pending-consumers.ts';
import { whoPresentsAnother } from './reissue-proof.ts';
import { answeredBy, isNew, requestOf } from '../request.ts';
import { lifeSeconds, type RotatedCA, signing, signsSince, trustedBy, trusting } from './rotated-ca.ts';
import { whoDistrusts } from './trust-proof.ts';
import { moveWorkers, type WorkerMove } from '../workers/move.ts';

/** How far the rotation of one authority is. */
export interface RotationProgress {
  /** Undefined where nothing is going on. */
  readonly inProgress?: { readonly reason: Reason; readonly message: string } | undefined;
  /** When to look again although nothing happens. */
  readonly requeueAt?: Date | undefined;
}

type Reason = ConditionReason<'CARotationReady'>;

const distributing = 'step 1 of 3, trust in the new one is distributed';
const reissuing = 'step 2 of 3, the new one signs';
const retiring = 'step 3 of 3, trust in the old one is retired';

/** Does the next step of a rotation, if there is one, or looks how far it is. */
export async function rotate(scope: CARotationContext, ca: RotatedCA): Promise<RotationProgress> {
  const { next } = ca;
  const problem = next && caProblem(next.secret.metadata.name, next.pair, scope.now);
  if (problem) return waiting('CACertificateInvalid', problem, later(scope));
  return take(scope, ca, stateOf(scope, ca));
}

function stateOf(scope: CARotationContext, ca: RotatedCA): RotationState {
  const { plan, secret, pair, next } = ca;
  const isOurs = isControlledBy(secret, scope.hostedControlPlane.metadata.uid);
  const isAsked = isNew(requestOf(scope.hostedControlPlane, plan.ca), answeredBy(secret));
  return {
    trusted: [...trustedBy({ pair }).keys()],
    next: next && signerFingerprint(next.pair.certificate),
    isWanted: isAsked || (isOurs && scope.now >= renewalTime(pair.certificate, plan.secret)),
    mayMakeNext: isOurs,
    isDistributed: false,
    isReissued: false,
    areWorkersMoved: false,
  };
}

/** Takes the next step. What is found out of the world on the way is added to the state, and decided from again. */
async function take(scope: CARotationContext, ca: RotatedCA, state: RotationState): Promise<RotationProgress> {
  const { plan, next } = ca;
  const goOn = (found: Partial<RotationState>) => take(scope, ca, { ...state, ...found });
  const soon = (reason: Reason, message: string) => waiting(reason, `${nameOf(ca)}: ${message}`, scope.now);
  const trust = ({ trusted }: { readonly trusted: readonly string[] }) =>
    scope.writer.apply([trusting(ca, certificates(ca, trusted), scope.now)]);

  const step = planRotation(state);
  switch (step.kind) {
    case 'begin':
      return begin(scope, ca);
    case 'await-successor':
      return awaitSuccessor(scope, ca);
    case 'distribute':
      await trust(step);
      return soon('DistributingTrust', distributing);
    case 'prove': {
      const pendingConsumers = await whoDistrusts(scope, ca);
      if (pendingConsumers.kind === 'some') return lagging(ca, 'DistributingTrust', distributing, pendingConsumers);
      return goOn({ isDistributed: true });
    }
    case 'withdraw':
      await trust(step);
      return soon('WithdrawingTrust', 'the request was taken back, and so is trust in the new one');
    case 'sign':
      await sign(scope, ca, step.trusted);
      return soon('ReissuingCertificates', reissuing);
    case 'reissue': {
      const pendingConsumers = await whoPresentsAnother(scope, ca);
      if (pendingConsumers.kind === 'some') return lagging(ca, 'ReissuingCertificates', reissuing, pendingConsumers);
      return goOn({ isReissued: true });
    }
    case 'move-workers': {
      const { isDone, message, requeueAt } = await moveNodes(scope, ca);
      if (!isDone) return waiting('MovingWorkers', `${nameOf(ca)}: step 2 of 3, nodes move: ${message}`, requeueAt);
      return goOn({ areWorkersMoved: true });
    }
    case 'retire':
      await trust(step);
      return soon('RetiringTrust', retiring);
    case 'clean-up': {
      const pendingConsumers = await whoDistrusts(scope, ca);
      if (pendingConsumers.kind === 'some') return lagging(ca, 'RetiringTrust', retiring, pendingConsumers);
      return goOn({ isDistributed: true });
    }
    case 'discard':
    case 'finish':
      if (next) await scope.writer.delete(Secret, next.secret);
      return { requeueAt: scope.now };
    case 'settled':
      await withdrawRequest(scope, successorSecretName(plan.secret));
      return atRest(scope, ca);
  }
}

async function sign(scope: CARotationContext, ca: RotatedCA, fingerprints: readonly string[]): Promise<void> {
  const { hostedControlPlane, writer, now } = scope;
  if (!ca.next) throw new Error(`nothing waits to sign as ${nameOf(ca)}`);
  const request = requestOf(hostedControlPlane, ca.plan.ca);
  const trusted = certificates(ca, fingerprints);
  await writer.apply([await signing(ca, { next: ca.next.pair, trusted, request, now })]);
}

/** Nodes present certificates of the cluster CA only. */
async function moveNodes(scope: CARotationContext, ca: RotatedCA): Promise<WorkerMove> {
  if (ca.plan.ca !== 'cluster') return { isDone: true, message: '' };
  const [signer = '', ...retired] = splitCertificates(ca.pair.certificate);
  const since = signsSince(ca) ?? readCertificate(signer).notBefore;
  return moveWorkers(scope, { signer, retiring: retired, since });
}

async function begin(scope: CARotationContext, { plan }: RotatedCA): Promise<RotationProgress> {
  const { writer, now } = scope;
  const secret = successorSecretName(plan.secret);
  const obtained = await obtainCA(scope, { plan, secret, durationSeconds: lifeSeconds(scope, plan) });
  if (obtained.kind === 'pending') {
    return waiting('WaitingForIssuer', `${plan.ca} CA: ${obtained.message}`, obtained.requeueAt);
  }
  await writer.createOnce(pairSecret(secretProps(scope, secret), 'clusterApi', obtained.pair));
  // Somebody else's, which was there before: from now on the watch sees it.
  await adoptUsersObject(scope, Secret, secret);
  return waiting('DistributingTrust', `${plan.ca} CA: step 1 of 3, there is a new one`, now);
}

/** A user's own authority is replaced by another one of theirs only. */
async function awaitSuccessor(scope: CARotationContext, { plan }: RotatedCA): Promise<RotationProgress> {
  const secret = successorSecretName(plan.secret);
  if (await scope.writer.read<SecretObject>(Secret, secret)) {
    await scope.writer.adopt(Secret, secret);
    return waiting('DistributingTrust', `${plan.ca} CA: step 1 of 3, there is a new one`, scope.now);
  }
  return waiting(
    'CACertificateInvalid',
    `${plan.ca} CA: Secret ${plan.secret} is not ours to replace: put the next one, as tls.crt and tls.key, into Secret ${secret}`,
    later(scope),
  );
}

/** A user's own authority is told about when less than two fifths of its life are left; nobody else would. */
function atRest(scope: CARotationContext, { plan, secret, pair }: RotatedCA): RotationProgress {
  const isOurs = isControlledBy(secret, scope.hostedControlPlane.metadata.uid);
  if (isOurs) return { requeueAt: renewalTime(pair.certificate, plan.secret) };
  const content = readCertificate(pair.certificate);
  if (!isExpiring(content, scope.now)) return { requeueAt: expiringFrom(content) };
  return waiting(
    'CAExpiring',
    `${plan.ca} CA: the one in Secret ${plan.secret}, which is not ours, expires on ${content.notAfter.toISOString()}: put the next one into Secret ${successorSecretName(plan.secret)} and ask for a rotation`,
    undefined,
  );
}

function certificates({ pair, next }: RotatedCA, trusted: readonly string[]): string[] {
  const known = trustedBy({ pair });
  const waits = next ? splitCertificates(next.pair.certificate)[0] : undefined;
  return trusted.flatMap((one) => known.get(one) ?? (waits && fingerprint(waits) === one ? waits : []));
}

function lagging(
  ca: RotatedCA,
  reason: Reason,
  step: string,
  { who, requeueAt }: Extract<PendingConsumers, { kind: 'some' }>,
): RotationProgress {
  return waiting(reason, `${nameOf(ca)}: ${step}: waiting for ${who}`, requeueAt);
}

function waiting(reason: Reason, message: string, requeueAt: Date | undefined): RotationProgress {
  return { inProgress: { reason, message }, requeueAt };
}

function nameOf({ plan }: Pick<RotatedCA, 'plan'>): string {
  return `${plan.ca} CA`;
}

function later({ now }: CARotationContext): Date {
  return new Date(now.getTime() + recheckMs);
}
