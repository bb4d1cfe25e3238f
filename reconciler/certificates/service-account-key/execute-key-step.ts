import { adoptUsersObject, recheckMs } from '../../clusters/management/users-objects.ts';
import type { ConditionReason } from '../../../constructs/api/conditions.ts';
import { Secret } from '../../../constructs/api/resources.ts';
import { longestTokenSecondsOf } from '../../../constructs/control-plane/api-server/token-lifetime.ts';
import { degraded, done, type Outcome } from '../../engine/outcome.ts';
import { discardSecret } from '../held-secret.ts';
import { secretProps } from '../secret-props.ts';
import { signerFingerprint } from '../../pki/pem.ts';
import { answeredBy, answering, requestOf, isNew, type RotationRequest } from '../rotation-request.ts';
import type { KeyRotationStep } from './plan-key-rotation.ts';
import type { Proof } from '../../clusters/pods/proven-by-all.ts';
import { type KeyClaim, proveOfAPIServers, proveOfControllerManager } from './proof.ts';
import {
  type KeyRotationContext,
  type StoredServiceAccountKeys,
  successorSecret,
  successorSecretOf,
  withKeys,
} from './rotated-keys.ts';
import { formatTokenRecord, lastExpiry, type TokenRecord } from './token-record.ts';
import { findKeptTokens } from './kept-tokens.ts';

/** The input of a step, as it was read. */
interface KeyRotation {
  readonly stored: StoredServiceAccountKeys;
  readonly successor: StoredServiceAccountKeys | undefined;
  readonly record: TokenRecord;
}

type Reason = ConditionReason<'ServiceAccountKeyRotationReady'>;

/** Executes the next step, or reports its progress. */
export async function executeKeyStep(
  scope: KeyRotationContext,
  rotation: KeyRotation,
  step: KeyRotationStep,
): Promise<Outcome> {
  const { writer, cluster, hostedControlPlane, now } = scope;
  const { stored, successor, record } = rotation;
  switch (step.kind) {
    case 'settled':
      return done();
    case 'begin': {
      const name = successorSecretOf(cluster.name);
      const request = requestOf(hostedControlPlane, 'serviceAccount');
      await writer.createOnce(await successorSecret(secretProps(scope, name), request));
      // If a user created it, the watch includes it from now on.
      await adoptUsersObject(scope, Secret, name);
      return inProgress('DistributingTrust', 'the operator has created a new key', now);
    }
    case 'awaitSuccessor':
      return inProgress(
        'ServiceAccountKeyInvalid',
        requestSuccessor(scope, stored),
        new Date(now.getTime() + recheckMs),
      );
    case 'distribute':
      await write(scope, rotation, step.keys);
      return inProgress('DistributingTrust', 'the operator distributes the new key to the API servers', now);
    case 'withdraw':
      await write(scope, rotation, step.keys);
      return inProgress('WithdrawingTrust', 'the operator withdraws the new key, because the request was removed', now);
    case 'sign': {
      const [key = ''] = step.keys;
      const proof = await proveOfAPIServers(scope, { kind: 'accept', key });
      if (proof.kind === 'pending') return awaiting('DistributingTrust', proof);
      await write(scope, rotation, step.keys);
      return inProgress('ChangingSigner', 'the new key signs from now on', now);
    }
    case 'schedule':
      return schedule(scope, rotation, step.keys);
    case 'discard':
      if (successor) await discardSecret(writer, successor.secret);
      return inProgress('ChangingSigner', 'the operator deletes the Secret of the successor', undefined);
    case 'retire':
      return retire(scope, rotation, step);
    case 'forget': {
      const proof = await proveOfAPIServers(scope, { kind: 'drop', keys: step.keys });
      if (proof.kind === 'pending') return awaiting('RetiringTrust', proof);
      const left = Object.entries(record.expiries).filter(([key]) => !step.keys.includes(key));
      await note(scope, stored, { ...record, expiries: Object.fromEntries(left) });
      return inProgress('RetiringTrust', 'all API servers have dropped the old key', now);
    }
    case 'wait':
      return inProgress(
        'WaitingForTokens',
        `the new key signs; tokens of the old key are accepted until ${step.until.toISOString()}, when the last of them expires`,
        step.until,
      );
  }
}

/** Writes the record beside the keys, in a single write. */
export async function note(
  { writer }: KeyRotationContext,
  { secret }: StoredServiceAccountKeys,
  record: TokenRecord,
  answered: RotationRequest = answeredBy(secret),
): Promise<void> {
  const annotations = { ...answering(answered), ...formatTokenRecord(record) };
  await writer.setFields(Secret, secret, { annotations }, 'service-account-keys');
}

function requestSuccessor({ cluster }: KeyRotationContext, { secret }: StoredServiceAccountKeys): string {
  return `a new key is requested, but Secret ${secret.metadata.name} contains your own key: create Secret ${successorSecretOf(cluster.name)} with another public key in tls.crt and its private key in tls.key`;
}

async function write(
  scope: KeyRotationContext,
  { stored, successor }: KeyRotation,
  ids: readonly string[],
): Promise<void> {
  const signs = successor && ids[0] === successor.keys[0].id ? successor : stored;
  const known = [...stored.keys, ...(successor?.keys ?? [])];
  await scope.writer.apply([withKeys(stored, ids, { known, key: signs.pair.key })]);
}

/** Records when the tokens of a key expire, from the moment on at which no component signs with it any more. */
async function schedule(scope: KeyRotationContext, rotation: KeyRotation, keys: readonly string[]): Promise<Outcome> {
  const { stored, record } = rotation;
  const [signer] = stored.keys;
  const claim: KeyClaim = { kind: 'signWith', key: signer.id };
  for (const proof of [
    await proveOfAPIServers(scope, claim),
    await proveOfControllerManager(scope, signerFingerprint(stored.pair.certificate)),
  ]) {
    if (proof.kind === 'pending') return awaiting('ChangingSigner', proof);
  }
  const configured = longestTokenSecondsOf(scope.cluster.spec.deployment.apiServer.args);
  const lifetimeSeconds = Math.max(configured, record.lifetimeSeconds);
  const until = lastExpiry({ ...record, lifetimeSeconds }, scope.now);
  const { [signer.id]: _, ...before } = record.expiries;
  const expiries = { ...before, ...Object.fromEntries(keys.map((key) => [key, until])) };
  await note(scope, stored, { ...record, expiries }, answerOf(scope, rotation));
  return inProgress('ChangingSigner', 'all API servers and the controller manager sign with the new key', scope.now);
}

/**
 * The answered request once the successor signs: the request for which it was created, or the current one if that is
 * not new.
 */
function answerOf({ hostedControlPlane }: KeyRotationContext, { stored, successor }: KeyRotation): RotationRequest {
  const present = requestOf(hostedControlPlane, 'serviceAccount');
  const before = answeredBy(stored.secret);
  if (!successor) return before;
  if (!isNew(present, before)) return { ...answeredBy(successor.secret), ...present };
  return successor.isControlled ? answeredBy(successor.secret) : present;
}

async function retire(
  scope: KeyRotationContext,
  rotation: KeyRotation,
  { keys, retired }: Extract<KeyRotationStep, { kind: 'retire' }>,
): Promise<Outcome> {
  const kept = findKeptTokens(scope, retired);
  if (kept.kind !== 'none') return inProgress('WaitingForTokens', kept.message, kept.requeueAt);
  await write(scope, rotation, keys);
  return inProgress('RetiringTrust', 'tokens of the old key are no longer accepted', scope.now);
}

function awaiting(reason: Reason, { who, requeueAt }: Extract<Proof, { kind: 'pending' }>): Outcome {
  return inProgress(reason, `waiting for ${who}`, requeueAt);
}

/** No other phase waits for it: all API servers accept the keys that are accepted meanwhile. */
function inProgress(reason: Reason, message: string, requeueAt: Date | undefined): Outcome {
  return degraded(reason, message, { requeueAt });
}
