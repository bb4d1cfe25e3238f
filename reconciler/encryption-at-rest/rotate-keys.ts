import type { SecretObject, PodObject } from '../../imports/kubernetes.ts';
import type { ConditionReason } from '../../constructs/api/conditions.ts';
import { Deployment } from '../../constructs/api/resources.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import { provenByAll, podsWithProblem } from '../clusters/pods/proven-by-all.ts';
import type { WorkState, Work } from '../engine/tasks/background-work.ts';
import { findTask } from '../engine/tasks/task.ts';
import { messageOf } from '../kube/error-message.ts';
import { deploymentReadiness, isReady } from '../kube/readiness.ts';
import { degraded, done, type Outcome } from '../engine/outcome.ts';
import type { SecretProps } from '../pki/secret.ts';
import { identity, nameOf } from './configuration.ts';
import { rewriteSecrets } from './rewrite.ts';
import { fresh, planRotation, type RotationInput, type RotationDecision } from './plan-rotation.ts';
import { type EncryptionKeys, encryptionSecret, providersNamed, reconfigured } from './secret.ts';
import type { HostedAccess } from '../clusters/hosted/hosted-client.ts';
import type { Clock } from '../kube/clock.ts';
import type { ControlPlaneContext } from '../clusters/management/view.ts';
import type { RunState } from '../run-state/run-state.ts';
import { definedOnly } from '../../constructs/cluster/defined-only.ts';
import type { Facts } from '../../constructs/cluster/facts.ts';
import type { StatusReport } from '../engine/status-report.ts';
import { versionAnnotation } from '../../constructs/pod/component.ts';
import { hasChange } from '../../constructs/cluster/versions.ts';
import { samplesOf } from '../kube/metric-samples.ts';
import { wasStartedWith } from '../clusters/pods/secret-files.ts';

/** What the creation and rotation of encryption keys need. */
export interface EncryptionContext extends ControlPlaneContext, HostedAccess {
  readonly runState: Pick<RunState, 'because'>;
  readonly work: Work;
  readonly clock: Clock;
}

/** The Secret with the keys, as it was read. */
interface StoredKeys {
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
export async function rotateKeys(scope: EncryptionContext, stored: StoredKeys): Promise<Outcome> {
  const step = planRotation(stateOf(scope, stored.keys));
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

function stateOf({ cluster, runState, work }: EncryptionContext, keys: EncryptionKeys): RotationInput {
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
  return degraded(reason, message, {
    facts: encryptionFacts(props.name, keys),
    requeueAt,
    report: encryptionReport(keys, scope),
  });
}

async function configure(
  scope: EncryptionContext,
  { props, secret, keys }: StoredKeys,
  step: Extract<RotationDecision, { kind: 'configure' }>,
): Promise<Outcome> {
  const providers = providersNamed(step.providers, keys, scope.now);
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
        client.at(address, 'controller', async (api) => loadedConfiguration(await api.raw('/metrics'))),
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

/** Facts for later phases: keys exist, and when to replace API servers that do not report what they have loaded. */
export function encryptionFacts(secret: string, { hash }: Pick<EncryptionKeys, 'hash'>): Partial<Facts> {
  return { encryptionAtRest: true, certificates: { [secret]: hash.slice('sha256:'.length) } };
}

/**
 * The status: `secretbox` as long as any Secret may be encrypted.
 * @param isSettled the requested rotation has ended
 */
export function encryptionReport(
  { providers, rotation }: Pick<EncryptionKeys, 'providers' | 'rotation'>,
  { hostedControlPlane }: Pick<EncryptionContext, 'hostedControlPlane'>,
  isSettled = false,
): StatusReport {
  const before = hostedControlPlane.status?.encryptionAtRest?.rotation;
  return {
    encryptionAtRest: {
      provider: providers.some((provider) => provider !== identity) ? 'secretbox' : 'None',
      ...definedOnly({ rotation: isSettled && rotation !== '' ? rotation : before }),
    },
  };
}

const metric = 'apiserver_encryption_config_controller_last_config_info';

/**
 * Hash of the encryption configuration that an API server reports as loaded, from its metrics; undefined if there is
 * none.
 */
export function loadedConfiguration(metrics: string): string | undefined {
  const [sample] = samplesOf(metrics, metric);
  return sample && Number(sample.value) === 1 ? sample.labels.get('hash') : undefined;
}

/**
 * Part of a sentence about each pod that has not loaded a configuration. A pod that does not answer is included, because it may
 * return with its previous configuration.
 */
export function podsWithout(
  { hash, secret }: { readonly hash: string; readonly secret: string },
  pods: readonly PodObject[],
  ask: (address: string) => Promise<string | undefined>,
): Promise<string[]> {
  const isStartedWith = (pod: PodObject) => isReady(pod) && wasStartedWith(pod, secret, hash.slice('sha256:'.length));
  return podsWithProblem(pods, async (address, pod) => {
    const version = pod.metadata.annotations?.[versionAnnotation] ?? 'v1.0';
    // The kubelet reads a Secret again when a pod starts, and this pod was created when the Secret already had this content.
    const hasLoaded = hasChange(version, 'reportsLoadedEncryption')
      ? (await ask(address)) === hash
      : isStartedWith(pod);
    return hasLoaded ? undefined : 'has not loaded the keys yet';
  });
}
