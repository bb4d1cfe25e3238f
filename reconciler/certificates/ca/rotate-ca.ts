import type { SecretObject } from '../../../imports/kubernetes.ts';
import { adoptUsersObject, recheckMs } from '../../clusters/management/users-objects.ts';
import type { ConditionReason } from '../../../constructs/api/conditions.ts';
import { Secret } from '../../../constructs/api/resources.ts';
import { successorSecretName } from '../../../constructs/cluster/names.ts';
import { isControlledBy } from '../../kube/object.ts';
import { isReadable, readCertificate } from '../../pki/certificate.ts';
import { expiringFrom, isExpiring } from '../expiries.ts';
import { withdrawRequest } from '../issuer/clear-requests.ts';
import { obtainCA } from '../issuer/obtain-ca.ts';
import { fingerprint, signerFingerprint, splitCertificates } from '../../pki/pem.ts';
import { caProblem, renewalTime } from '../../pki/reissue-policy.ts';
import { discardSecret } from '../held-secret.ts';
import { pairSecret } from '../../pki/secret.ts';
import { secretProps } from '../secret-props.ts';
import { planRotation, type RotationState } from './plan-ca-rotation.ts';
import type { Proof } from '../../clusters/pods/proven-by-all.ts';
import { consumersOfOldCertificates } from './reissue-proof.ts';
import { answeredBy, isNew, requestOf } from '../rotation-request.ts';
import {
  type CARotationContext,
  lifeSeconds,
  type RotatedCA,
  signing,
  signsSince,
  trustedBy,
  trusting,
} from './rotated-ca.ts';
import { consumersNotTrusting } from './trust-proof.ts';
import { moveWorkers, type WorkerMove } from '../workers/move-workers.ts';

/** The progress of the rotation of one CA. */
export interface RotationProgress {
  /** Undefined if no rotation is in progress. */
  readonly inProgress?: { readonly reason: Reason; readonly message: string } | undefined;
  /** When to reconcile again although nothing happens. */
  readonly requeueAt?: Date | undefined;
}

type Reason = ConditionReason<'CARotationReady'>;

const distributing = 'step 1 of 3, distributing trust in the new CA';
const reissuing = 'step 2 of 3, the new CA signs';
const retiring = 'step 3 of 3, removing trust in the old CA';

/** Executes the next step of a rotation, if there is one, or reports its progress. */
export async function rotate(scope: CARotationContext, ca: RotatedCA): Promise<RotationProgress> {
  const { next } = ca;
  if (next && isPremature(scope, ca, next)) {
    await discardSecret(scope.writer, next.secret);
    return waiting('WithdrawingTrust', `${nameOf(ca)}: the new CA is not valid yet, and is made again`, scope.now);
  }
  const problem = next && caProblem(next.secret.metadata.name, next.pair, scope.now);
  if (problem) return waiting('CACertificateInvalid', problem, later(scope));
  return executeNext(scope, ca, stateOf(scope, ca));
}

/** Whether the operator has made a successor that begins later, by a clock that was ahead, and that has signed nothing. */
function isPremature(
  { hostedControlPlane, now }: CARotationContext,
  { pair }: RotatedCA,
  next: NonNullable<RotatedCA['next']>,
): boolean {
  const isControlled = isControlledBy(next.secret, hostedControlPlane.metadata.uid);
  const hasSigned = signerFingerprint(next.pair.certificate) === signerFingerprint(pair.certificate);
  return isControlled && !hasSigned && isReadable(next.pair) && now < readCertificate(next.pair.certificate).notBefore;
}

function stateOf(scope: CARotationContext, ca: RotatedCA): RotationState {
  const { plan, secret, pair, next } = ca;
  const isControlled = isControlledBy(secret, scope.hostedControlPlane.metadata.uid);
  const isRequested = isNew(requestOf(scope.hostedControlPlane, plan.ca), answeredBy(secret));
  return {
    trusted: [...trustedBy({ pair }).keys()],
    next: next && signerFingerprint(next.pair.certificate),
    isWanted: isRequested || (isControlled && scope.now >= renewalTime(pair.certificate, plan.secret)),
    mayMakeNext: isControlled,
    isDistributed: false,
    isReissued: false,
    areWorkersMoved: false,
  };
}

/** Executes the next step. Observations during a step are added to the state, and the next decision uses them. */
async function executeNext(scope: CARotationContext, ca: RotatedCA, state: RotationState): Promise<RotationProgress> {
  const { plan, next } = ca;
  const continueWith = (found: Partial<RotationState>) => executeNext(scope, ca, { ...state, ...found });
  const soon = (reason: Reason, message: string) => waiting(reason, `${nameOf(ca)}: ${message}`, scope.now);
  const trust = ({ trusted }: { readonly trusted: readonly string[] }) =>
    scope.writer.apply([trusting(ca, certificates(ca, trusted), scope.now)]);

  const step = planRotation(state);
  switch (step.kind) {
    case 'begin':
      return begin(scope, ca);
    case 'awaitSuccessor':
      return awaitSuccessor(scope, ca);
    case 'distribute':
      await trust(step);
      return soon('DistributingTrust', distributing);
    case 'prove': {
      const proof = await consumersNotTrusting(scope, ca);
      if (proof.kind === 'pending') return awaiting(ca, 'DistributingTrust', distributing, proof);
      return continueWith({ isDistributed: true });
    }
    case 'withdraw':
      await trust(step);
      return soon('WithdrawingTrust', 'the request was withdrawn, and the operator removes trust in the new CA');
    case 'sign':
      await sign(scope, ca, step.trusted);
      return soon('ReissuingCertificates', reissuing);
    case 'reissue': {
      const proof = await consumersOfOldCertificates(scope, ca);
      if (proof.kind === 'pending') return awaiting(ca, 'ReissuingCertificates', reissuing, proof);
      return continueWith({ isReissued: true });
    }
    case 'moveWorkers': {
      const { isDone, message, requeueAt } = await moveNodes(scope, ca);
      if (!isDone) return waiting('MovingWorkers', `${nameOf(ca)}: step 2 of 3, moving nodes: ${message}`, requeueAt);
      return continueWith({ areWorkersMoved: true });
    }
    case 'retire':
      await trust(step);
      return soon('RetiringTrust', retiring);
    case 'cleanUp': {
      const proof = await consumersNotTrusting(scope, ca);
      if (proof.kind === 'pending') return awaiting(ca, 'RetiringTrust', retiring, proof);
      return continueWith({ isDistributed: true });
    }
    case 'discard':
    case 'finish':
      if (next) await discardSecret(scope.writer, next.secret);
      return { requeueAt: scope.now };
    case 'settled':
      await withdrawRequest(scope, successorSecretName(plan.secret));
      return idle(scope, ca);
  }
}

async function sign(scope: CARotationContext, ca: RotatedCA, fingerprints: readonly string[]): Promise<void> {
  const { hostedControlPlane, writer, now } = scope;
  if (!ca.next) throw new Error(`the ${nameOf(ca)} has no successor`);
  const request = requestOf(hostedControlPlane, ca.plan.ca);
  const trusted = certificates(ca, fingerprints);
  await writer.apply([await signing(ca, { next: ca.next.pair, trusted, request, now })]);
}

/** Nodes only present certificates of the cluster CA. */
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
  // If another client created it before, the watch includes it from now on.
  await adoptUsersObject(scope, Secret, secret);
  return waiting('DistributingTrust', `${plan.ca} CA: step 1 of 3, the new CA exists`, now);
}

/** Only a CA of the user may replace a user's own CA. */
async function awaitSuccessor(scope: CARotationContext, { plan }: RotatedCA): Promise<RotationProgress> {
  const secret = successorSecretName(plan.secret);
  if (await scope.writer.read<SecretObject>(Secret, secret)) {
    await scope.writer.adopt(Secret, secret);
    return waiting('DistributingTrust', `${plan.ca} CA: step 1 of 3, the new CA exists`, scope.now);
  }
  return waiting(
    'CACertificateInvalid',
    `${plan.ca} CA: Secret ${plan.secret} contains your own CA, which the operator does not replace: put its successor, as tls.crt and tls.key, into Secret ${secret}`,
    later(scope),
  );
}

/** Reports a user's own CA when less than two fifths of its lifetime are left, because nothing renews it. */
function idle(scope: CARotationContext, { plan, secret, pair }: RotatedCA): RotationProgress {
  const isControlled = isControlledBy(secret, scope.hostedControlPlane.metadata.uid);
  if (isControlled) return { requeueAt: renewalTime(pair.certificate, plan.secret) };
  const content = readCertificate(pair.certificate);
  if (!isExpiring(content, scope.now)) return { requeueAt: expiringFrom(content) };
  return waiting(
    'CAExpiring',
    `${plan.ca} CA: your own CA in Secret ${plan.secret} expires on ${content.notAfter.toISOString()}: put its successor into Secret ${successorSecretName(plan.secret)} and request a rotation`,
    undefined,
  );
}

function certificates({ pair, next }: RotatedCA, trusted: readonly string[]): string[] {
  const known = trustedBy({ pair });
  const waits = next ? splitCertificates(next.pair.certificate)[0] : undefined;
  return trusted.flatMap((one) => known.get(one) ?? (waits && fingerprint(waits) === one ? waits : []));
}

function awaiting(
  ca: RotatedCA,
  reason: Reason,
  step: string,
  { who, requeueAt }: Extract<Proof, { kind: 'pending' }>,
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
