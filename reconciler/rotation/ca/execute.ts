import type { ConditionReason } from '../../../constructs/api/conditions.ts';
import { Secret } from '../../../constructs/api/resources.ts';
import { successorSecretName } from '../../../constructs/cluster/names.ts';
import { isControlledBy } from '../../kube/object.ts';
import { readCertificate } from '../../pki/certificate.ts';
import { expiringFrom, isExpiring } from '../../pki/expiries.ts';
import { withdrawRequest } from '../../pki/issuer/clear-requests.ts';
import { obtainAuthority } from '../../pki/issuer/obtain-ca.ts';
import { fingerprint, signerFingerprint, splitCertificates } from '../../pki/pem.ts';
import { authorityProblem, renewalTime } from '../../pki/policy.ts';
import { pairSecret, type SecretObject } from '../../pki/secret.ts';
import { secretProps } from '../../pki/secret-props.ts';
import type { Scope } from '../../phases/scope.ts';
import { decideRotation, type RotationState } from './decide-rotation.ts';
import type { Laggards } from './pending-consumers.ts';
import { whoPresentsAnother } from './reissue-proof.ts';
import { answeredBy, isNew, requestOf } from '../request.ts';
import { lifeSeconds, type RotatedAuthority, signing, signsSince, trustedBy, trusting } from './rotated-ca.ts';
import { whoDistrusts } from './trust-proof.ts';
import { moveWorkers, type WorkerMove } from '../workers/move.ts';

/** How far the rotation of one authority is. */
export interface RotationProgress {
  /** Undefined where nothing is going on. */
  readonly underWay?: { readonly reason: Reason; readonly message: string } | undefined;
  /** When to look again although nothing happens. */
  readonly again?: Date | undefined;
}

type Reason = ConditionReason<'CARotationReady'>;

const distributing = 'step 1 of 3, trust in the new one is distributed';
const reissuing = 'step 2 of 3, the new one signs';
const retiring = 'step 3 of 3, trust in the old one is retired';

/** A Secret of the user carries no label of ours, so that no event tells when it is there. */
const recheckMs = 30_000;

/** Does the next step of a rotation, if there is one, or looks how far it is. */
export async function rotate(scope: Scope, authority: RotatedAuthority): Promise<RotationProgress> {
  const { next } = authority;
  const problem = next && authorityProblem(next.secret.metadata.name, next.pair, scope.now);
  if (problem) return waiting('CACertificateInvalid', problem, later(scope));
  return take(scope, authority, stateOf(scope, authority));
}

function stateOf(scope: Scope, authority: RotatedAuthority): RotationState {
  const { plan, secret, pair, next } = authority;
  const isOurs = isControlledBy(secret, scope.hostedControlPlane.metadata.uid);
  const isAsked = isNew(requestOf(scope.hostedControlPlane, plan.authority), answeredBy(secret));
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
async function take(scope: Scope, authority: RotatedAuthority, state: RotationState): Promise<RotationProgress> {
  const { plan, next } = authority;
  const goOn = (found: Partial<RotationState>) => take(scope, authority, { ...state, ...found });
  const soon = (reason: Reason, message: string) => waiting(reason, `${nameOf(authority)}: ${message}`, scope.now);
  const trust = ({ trusted }: { readonly trusted: readonly string[] }) =>
    scope.writer.apply([trusting(authority, certificates(authority, trusted), scope.now)]);

  const step = decideRotation(state);
  switch (step.kind) {
    case 'begin':
      return begin(scope, authority);
    case 'await-successor':
      return awaitSuccessor(scope, authority);
    case 'distribute':
      await trust(step);
      return soon('DistributingTrust', distributing);
    case 'prove': {
      const laggards = await whoDistrusts(scope, authority);
      if (laggards.kind === 'some') return lagging(authority, 'DistributingTrust', distributing, laggards);
      return goOn({ isDistributed: true });
    }
    case 'withdraw':
      await trust(step);
      return soon('WithdrawingTrust', 'the request was taken back, and so is trust in the new one');
    case 'sign':
      await sign(scope, authority, step.trusted);
      return soon('ReissuingCertificates', reissuing);
    case 'reissue': {
      const laggards = await whoPresentsAnother(scope, authority);
      if (laggards.kind === 'some') return lagging(authority, 'ReissuingCertificates', reissuing, laggards);
      return goOn({ isReissued: true });
    }
    case 'move-workers': {
      const { isDone, message, again } = await moveNodes(scope, authority);
      if (!isDone) return waiting('MovingWorkers', `${nameOf(authority)}: step 2 of 3, nodes move: ${message}`, again);
      return goOn({ areWorkersMoved: true });
    }
    case 'retire':
      await trust(step);
      return soon('RetiringTrust', retiring);
    case 'clean-up': {
      const laggards = await whoDistrusts(scope, authority);
      if (laggards.kind === 'some') return lagging(authority, 'RetiringTrust', retiring, laggards);
      return goOn({ isDistributed: true });
    }
    case 'discard':
    case 'finish':
      if (next) await scope.writer.delete(Secret, next.secret);
      return { again: scope.now };
    case 'settled':
      await withdrawRequest(scope, successorSecretName(plan.secret));
      return atRest(scope, authority);
  }
}

async function sign(scope: Scope, authority: RotatedAuthority, fingerprints: readonly string[]): Promise<void> {
  const { hostedControlPlane, writer, now } = scope;
  if (!authority.next) throw new Error(`nothing waits to sign as ${nameOf(authority)}`);
  const request = requestOf(hostedControlPlane, authority.plan.authority);
  const trusted = certificates(authority, fingerprints);
  await writer.apply([await signing(authority, { next: authority.next.pair, trusted, request, now })]);
}

/** Nodes present certificates of the cluster CA only. */
async function moveNodes(scope: Scope, authority: RotatedAuthority): Promise<WorkerMove> {
  if (authority.plan.authority !== 'cluster') return { isDone: true, message: '' };
  const [signer = '', ...retired] = splitCertificates(authority.pair.certificate);
  const since = signsSince(authority) ?? readCertificate(signer).notBefore;
  return moveWorkers(scope, { signer, retiring: retired, since });
}

async function begin(scope: Scope, { plan }: RotatedAuthority): Promise<RotationProgress> {
  const { world, writer, now } = scope;
  const secret = successorSecretName(plan.secret);
  const obtained = await obtainAuthority(scope, { plan, secret, durationSeconds: lifeSeconds(scope, plan) });
  if (obtained.kind === 'pending') {
    return waiting('WaitingForIssuer', `${plan.authority} CA: ${obtained.message}`, obtained.again);
  }
  await writer.createOnce(pairSecret(secretProps(scope, secret), 'clusterApi', obtained.pair));
  // Somebody else's, which was there before: from now on the watch sees it.
  if (!world.get(Secret, secret)) await writer.adopt(Secret, secret);
  return waiting('DistributingTrust', `${plan.authority} CA: step 1 of 3, there is a new one`, now);
}

/** A user's own authority is replaced by another one of theirs only. */
async function awaitSuccessor(scope: Scope, { plan }: RotatedAuthority): Promise<RotationProgress> {
  const secret = successorSecretName(plan.secret);
  if (await scope.writer.read<SecretObject>(Secret, secret)) {
    await scope.writer.adopt(Secret, secret);
    return waiting('DistributingTrust', `${plan.authority} CA: step 1 of 3, there is a new one`, scope.now);
  }
  return waiting(
    'CACertificateInvalid',
    `${plan.authority} CA: Secret ${plan.secret} is not ours to replace: put the next one, as tls.crt and tls.key, into Secret ${secret}`,
    later(scope),
  );
}

/** A user's own authority is told about when less than two fifths of its life are left; nobody else would. */
function atRest(scope: Scope, { plan, secret, pair }: RotatedAuthority): RotationProgress {
  const isOurs = isControlledBy(secret, scope.hostedControlPlane.metadata.uid);
  if (isOurs) return { again: renewalTime(pair.certificate, plan.secret) };
  const content = readCertificate(pair.certificate);
  if (!isExpiring(content, scope.now)) return { again: expiringFrom(content) };
  return waiting(
    'CAExpiring',
    `${plan.authority} CA: the one in Secret ${plan.secret}, which is not ours, expires on ${content.notAfter.toISOString()}: put the next one into Secret ${successorSecretName(plan.secret)} and ask for a rotation`,
    undefined,
  );
}

function certificates({ pair, next }: RotatedAuthority, trusted: readonly string[]): string[] {
  const known = trustedBy({ pair });
  const waits = next ? splitCertificates(next.pair.certificate)[0] : undefined;
  return trusted.flatMap((one) => known.get(one) ?? (waits && fingerprint(waits) === one ? waits : []));
}

function lagging(
  authority: RotatedAuthority,
  reason: Reason,
  step: string,
  { who, again }: Extract<Laggards, { kind: 'some' }>,
): RotationProgress {
  return waiting(reason, `${nameOf(authority)}: ${step}: waiting for ${who}`, again);
}

function waiting(reason: Reason, message: string, again: Date | undefined): RotationProgress {
  return { underWay: { reason, message }, again };
}

function nameOf({ plan }: Pick<RotatedAuthority, 'plan'>): string {
  return `${plan.authority} CA`;
}

function later({ now }: Scope): Date {
  return new Date(now.getTime() + recheckMs);
}
