import type { SecretObject } from '../../imports/kubernetes.ts';
import type { ConditionReason } from '../../constructs/api/conditions.ts';
import { Deployment } from '../../constructs/api/resources.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import { provenByAll } from '../clusters/pods/proven-by-all.ts';
import type { WorkState } from '../engine/tasks/background-work.ts';
import { findTask } from '../engine/tasks/task.ts';
import { messageOf } from '../kube/error-message.ts';
import { deploymentReadiness } from '../kube/readiness.ts';
import { degraded, done, type Outcome } from '../engine/outcome.ts';
import type { SecretProps } from '../pki/secret.ts';
import type { EncryptionContext } from './context.ts';
import { nameOf } from './configuration.ts';
import { choose, encryptionFacts, encryptionReport } from './keys.ts';
import { loadedEncryption, podsWithout } from './loaded.ts';
import { rewriteSecrets } from './rewrite.ts';
import { fresh, planStep, type RotationState, type RotationStep } from './rotation.ts';
import { type EncryptionKeys, encryptionSecret, reconfigured } from './secret.ts';

/** The Secret with the keys, as it was read. */
export interface StoredKeys {
  readonly props: SecretProps;
  readonly secret: SecretObject;
  readonly keys: EncryptionKeys;
}

type Reason = ConditionReason<'EncryptionAtRestReady'>;

const proofTask = 'encryption proof';
const rewriteTask = 'encryption rewriting';

/** A user must first correct what refuses a Secret. */
const rewriteRetryMs = 30_000;

/** Executes the next step of a rotation, if there is one, or reports its progress. */
export async function executeStep(scope: EncryptionContext, stored: StoredKeys): Promise<Outcome> {
  const step = planStep(stateOf(scope, stored.keys));
  const { props, keys } = stored;
  switch (step.kind) {
    case 'settled':
      return done(encryptionFacts(props.name, keys), undefined, { report: encryptionReport(keys, scope, true) });
    case 'hold':
      scope.work.cancel(proofTask);
      scope.work.cancel(rewriteTask);
      return inProgress(scope, stored, 'WaitingForAPIServer', 'the operator rewrites Secrets after the restore');
    case 'configure':
      return configure(scope, stored, step);
    case 'prove':
      return prove(scope, stored, step.reason);
    case 'rewrite':
      return rewrite(scope, stored);
  }
}

function stateOf({ cluster, runState, work }: EncryptionContext, keys: EncryptionKeys): RotationState {
  const { provider, rotation } = cluster.spec.encryptionAtRest ?? {};
  const rewritten = work.state(rewriteTask);
  return {
    providers: keys.providers.map(nameOf),
    retired: keys.retired.map(nameOf),
    isLoaded: keys.isLoaded,
    isRewritten: rewritten.kind === 'done' && rewritten.inputsKey === keys.hash,
    wanted: provider,
    wantsNewKey: rotation !== undefined && rotation !== keys.rotation,
    isRestoring: runState.because === 'restore',
  };
}

/** Other phases continue, because all API servers can read what is configured, regardless of what they have loaded. */
function inProgress(
  scope: EncryptionContext,
  { props, keys }: Pick<StoredKeys, 'props' | 'keys'>,
  reason: Reason,
  message: string,
  requeueAt?: Date,
): Outcome {
  return degraded(reason, message, encryptionFacts(props.name, keys), {
    requeueAt,
    report: encryptionReport(keys, scope),
  });
}

async function configure(
  scope: EncryptionContext,
  { props, secret, keys }: StoredKeys,
  step: Extract<RotationStep, { kind: 'configure' }>,
): Promise<Outcome> {
  const providers = choose(step.providers, keys, scope.now);
  const { rotation = keys.rotation } = scope.cluster.spec.encryptionAtRest ?? {};
  const next = reconfigured(keys, providers, step.providers.includes(fresh) ? rotation : keys.rotation);
  await scope.writer.apply([encryptionSecret(props, next, secret)]);
  return inProgress(
    scope,
    { props, keys: next },
    'DistributingKey',
    'the operator distributes a new encryption configuration to the API servers',
    scope.now,
  );
}

/** Checks in the background whether all API servers have loaded the configuration, and records it once they have. */
async function prove(scope: EncryptionContext, stored: StoredKeys, reason: Reason): Promise<Outcome> {
  const { cluster, reader, writer, now } = scope;
  const { props, secret, keys } = stored;
  const rollout = deploymentReadiness(reader.get(Deployment, namesOf(cluster.name).apiServer));
  if (!rollout.ready) return inProgress(scope, stored, 'WaitingForAPIServer', `API servers: ${rollout.message}`);
  const client = scope.hosted(scope.facts);
  const proof = await provenByAll(scope, {
    name: proofTask,
    component: 'api-server',
    version: keys.hash.slice('sha256:'.length),
    purpose: 'encryption',
    ask: (pods) =>
      podsWithout({ hash: keys.hash, secret: props.name }, pods, (address) =>
        client.at(address, 'controller', loadedEncryption),
      ),
  });
  if (proof.kind === 'pending') return inProgress(scope, stored, reason, `waiting for ${proof.who}`, proof.requeueAt);
  const loaded = { ...keys, isLoaded: true };
  await writer.apply([encryptionSecret(props, loaded, secret)]);
  return inProgress(scope, { props, keys: loaded }, reason, 'all API servers have loaded the keys', now);
}

/** Rewrites all Secrets in the background. */
function rewrite(scope: EncryptionContext, stored: StoredKeys): Outcome {
  const { work, now } = scope;
  const { hash } = stored.keys;
  const task = findTask(work, now, {
    name: rewriteTask,
    inputsKey: hash,
    retryMs: rewriteRetryMs,
    holdsMs: () => rewriteRetryMs,
    supersedes: true,
  });
  if (task.isDue) {
    const hosted = scope.hosted(scope.facts);
    task.start((context) => rewriteSecrets((one) => hosted.asAdministrator(one), context));
  }
  // A failure stays reported while the next attempt runs for the first time.
  const state = task.isDue && task.state.kind !== 'failed' ? work.state(rewriteTask) : task.state;
  return inProgress(scope, stored, 'RewritingSecrets', describe(state), new Date(now.getTime() + rewriteRetryMs));
}

function describe(state: WorkState): string {
  if (state.kind === 'running') return state.progress;
  if (state.kind !== 'failed') return 'the operator rewrites all Secrets';
  return `the operator cannot rewrite all Secrets and tries again: ${messageOf(state.error)}`;
}
