import type { ConditionReason } from '../../../constructs/api/conditions.ts';
import { Secret } from '../../../constructs/api/resources.ts';
import { successorSecretName } from '../../../constructs/control-plane/names.ts';
import { isControlledBy } from '../../kube/object.ts';
import { readCertificate } from '../../pki/certificate.ts';
import { expiringFrom, isExpiring } from '../../pki/expiries.ts';
import { withdrawRequest } from '../../pki/issuer/clear-requests.ts';
import { obtainAuthority } from '../../pki/obtain-authority.ts';
import { fingerprint, signerFingerprint, splitCertificates } from '../../pki/pem.ts';
import { authorityProblem, renewalTime } from '../../pki/policy.ts';
import { pairSecret, type SecretObject } from '../../pki/secret.ts';
import { secretProps } from '../../pki/secret-props.ts';
import type { Scope } from '../../scope.ts';
import { decideRotation, type RotationState, type RotationStep } from './decide-rotation.ts';
import type { Laggards } from './laggards.ts';
import { whoPresentsAnother } from './reissue-proof.ts';
import { answeredBy, isNew, requestOf } from '../request.ts';
import { lifeSeconds, type RotatedAuthority, signing, signsSince, trustedBy, trusting } from './rotated-authority.ts';
import { whoDistrusts } from './trust-proof.ts';
import { moveWorkers } from '../workers/move.ts';

/** How far the rotation of one authority is. */
export interface RotationProgress {
  /** Undefined where nothing is going on. */
  readonly underWay?: { readonly reason: Reason; readonly message: string } | undefined;
  /** When to look again although nothing happens. */
  readonly again?: Date | undefined;
}

type Reason = ConditionReason<'CARotationReady'>;

/** A Secret of the user carries no label of ours, so that no event tells when it is there. */
const recheckMs = 30_000;

/** Does the next step of a rotation, if there is one, or looks how far it is. */
export async function rotate(scope: Scope, authority: RotatedAuthority): Promise<RotationProgress> {
  const { plan, next } = authority;
  const problem = next && authorityProblem(next.secret.metadata.name, next.pair, scope.now);
  if (problem) return waiting('CACertificateInvalid', problem, later(scope));
  const state = stateOf(scope, authority);
  const step = decideRotation(state);
  switch (step.kind) {
    case 'prove':
    case 'clean-up':
      return prove(scope, authority, state, step.kind);
    case 'reissue':
      return reissue(scope, authority, state);
    case 'begin':
    case 'await-successor':
    case 'distribute':
    case 'withdraw':
    case 'discard':
    case 'sign':
    case 'retire':
    case 'finish':
      return perform(scope, authority, step);
    case 'move-workers':
      throw new Error(`nodes of the ${plan.authority} CA are to be moved before anything else is`);
    case 'settled':
      await withdrawRequest(scope, successorSecretName(plan.secret));
      return atRest(scope, authority);
  }
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

async function prove(
  scope: Scope,
  authority: RotatedAuthority,
  state: RotationState,
  kind: 'prove' | 'clean-up',
): Promise<RotationProgress> {
  const laggards = await whoDistrusts(scope, authority);
  if (laggards.kind === 'nobody') {
    return perform(scope, authority, decideRotation({ ...state, isDistributed: true }));
  }
  return kind === 'prove'
    ? lagging(authority, 'DistributingTrust', 'step 1 of 3, trust in the new one is distributed', laggards)
    : lagging(authority, 'RetiringTrust', 'step 3 of 3, trust in the old one is retired', laggards);
}

async function reissue(scope: Scope, authority: RotatedAuthority, state: RotationState): Promise<RotationProgress> {
  const laggards = await whoPresentsAnother(scope, authority);
  if (laggards.kind === 'some') {
    return lagging(authority, 'ReissuingCertificates', 'step 2 of 3, the new one signs', laggards);
  }
  if (authority.plan.authority === 'cluster') {
    const [signer = '', ...retiring] = splitCertificates(authority.pair.certificate);
    const since = signsSince(authority) ?? readCertificate(signer).notBefore;
    const { isDone, message, again } = await moveWorkers(scope, { signer, retiring, since });
    if (!isDone) return waiting('MovingWorkers', `${nameOf(authority)}: step 2 of 3, nodes move: ${message}`, again);
  }
  return perform(scope, authority, decideRotation({ ...state, isReissued: true, areWorkersMoved: true }));
}

/** Carries out a step that is one write. */
async function perform(scope: Scope, authority: RotatedAuthority, step: RotationStep): Promise<RotationProgress> {
  const { writer, now } = scope;
  const { next } = authority;
  const soon = (reason: Reason, message: string) => waiting(reason, `${nameOf(authority)}: ${message}`, now);
  switch (step.kind) {
    case 'begin':
      return begin(scope, authority);
    case 'await-successor':
      return awaitSuccessor(scope, authority);
    case 'distribute':
      await writer.apply([trusting(authority, certificates(authority, step.trusted), now)]);
      return soon('DistributingTrust', 'step 1 of 3, trust in the new one is distributed');
    case 'withdraw':
      await writer.apply([trusting(authority, certificates(authority, step.trusted), now)]);
      return soon('WithdrawingTrust', 'the request was taken back, and so is trust in the new one');
    case 'retire':
      await writer.apply([trusting(authority, certificates(authority, step.trusted), now)]);
      return soon('RetiringTrust', 'step 3 of 3, trust in the old one is retired');
    case 'sign': {
      if (!next) return {};
      const request = requestOf(scope.hostedControlPlane, authority.plan.authority);
      const trusted = certificates(authority, step.trusted);
      await writer.apply([await signing(authority, { next: next.pair, trusted, request, now })]);
      return soon('ReissuingCertificates', 'step 2 of 3, the new one signs');
    }
    case 'discard':
    case 'finish':
      if (next) await writer.delete(Secret, next.secret);
      return { again: now };
    case 'prove':
    case 'reissue':
    case 'move-workers':
    case 'clean-up':
    case 'settled':
      return { again: now };
  }
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
