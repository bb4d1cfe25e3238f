import type { SecretObject } from '../../imports/kubernetes.ts';
import { findUsersObject, recheckMs } from '../clusters/management/users-objects.ts';
import { Deployment, Secret } from '../../constructs/api/resources.ts';
import {
  type KeyRotationContext,
  problemOf,
  readServiceAccountKeys,
  type StoredServiceAccountKeys,
  successorSecretOf,
} from '../certificates/service-account-key/rotated-keys.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import { heldByClock } from '../engine/clock-wrong.ts';
import { degraded, done, type Outcome } from '../engine/outcome.ts';
import { answeredBy, isNew, requestOf } from '../certificates/rotation-request.ts';
import { planKeyStep } from '../certificates/service-account-key/plan-key-rotation.ts';
import { note, executeKeyStep } from '../certificates/service-account-key/execute-key-step.ts';
import {
  readTokenRecord,
  runningTokenSeconds,
  type TokenRecord,
  withLifetime,
} from '../certificates/service-account-key/token-record.ts';
import { phase, type Scope } from './scope.ts';
import { certificates } from './certificates.ts';

/**
 * Replaces the key that signs service account tokens. All API servers accept tokens of the new key before any of them
 * signs with it, and the old key is removed when its last token has expired. No other phase waits for it, and it waits
 * for no rollout: it checks every API server individually.
 */
export const serviceAccountKeyRotation = phase({
  condition: 'ServiceAccountKeyRotationReady',
  needs: [certificates],
  async run(scope): Promise<Outcome> {
    const { reader, cluster, hostedControlPlane, now } = scope;
    const secret = reader.get<SecretObject>(Secret, namesOf(cluster.name).secrets.serviceAccount);
    if (!secret) return done();
    const stored = readServiceAccountKeys(secret, scope);
    const held = heldByClock(scope, 'a rotation of the service account key waits');
    if (held) return stored.keys.length > 1 ? held : done();
    const isRequested = isNew(requestOf(hostedControlPlane, 'serviceAccount'), answeredBy(secret));
    const record = await trackLifetime(scope, stored);
    const waiting = await findSuccessor(scope, stored, isRequested);
    const problem = waiting && problemOf(waiting);
    if (problem) return unusable(problem, now);
    const successor = waiting && readServiceAccountKeys(waiting, scope);

    const step = planKeyStep({
      keys: stored.keys.map(({ id }) => id),
      successor: successor && { key: successor.keys[0].id, isControlled: successor.isControlled },
      isControlled: stored.isControlled,
      isRequested,
      expiries: record.expiries,
      now,
    });

    return executeKeyStep(scope, { stored, successor, record }, step);
  },
});

function unusable(problem: string, now: Date): Outcome {
  const requeueAt = new Date(now.getTime() + recheckMs);
  return degraded('ServiceAccountKeyInvalid', `${problem}: replace or delete it`, { requeueAt });
}

/** A successor that the user creates costs a request, which is made where it matters. */
async function findSuccessor(
  scope: Scope,
  { isControlled, keys }: StoredServiceAccountKeys,
  isRequested: boolean,
): Promise<SecretObject | undefined> {
  const name = successorSecretOf(scope.cluster.name);
  const matters = !isControlled && (isRequested || keys.length > 1);
  return matters ? findUsersObject(scope, Secret, name) : scope.reader.get(Secret, name);
}

/** Records the longest lifetime of tokens that were signed before the lifetime in API servers changed. */
async function trackLifetime(scope: KeyRotationContext, stored: StoredServiceAccountKeys): Promise<TokenRecord> {
  const record = readTokenRecord(stored.secret);
  const seconds = runningTokenSeconds(scope.reader.get(Deployment, namesOf(scope.cluster.name).apiServer));
  const present = seconds === undefined ? record : withLifetime(record, seconds, scope.now);
  if (present !== record) await note(scope, stored, present);
  return present;
}
