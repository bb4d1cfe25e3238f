import type { SecretObject } from '../../imports/kubernetes.ts';
import { findUsersObject } from '../clusters/management/users-objects.ts';
import { isDeepStrictEqual } from 'node:util';
import type { ConditionReason } from '../../constructs/api/conditions.ts';
import { identityAnnotation, keyFinalizer } from '../../constructs/api/group.ts';
import { Secret } from '../../constructs/api/resources.ts';
import type { RenderedObject } from '../../constructs/control-plane/chart.ts';
import { objectLabels } from '../../constructs/cluster/labels.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import {
  RecoveryBundleNotFound,
  type Identity,
  type KeptSecret,
  readIdentity,
} from '../backup/find-recovery-bundle.ts';
import { StoreError } from '../backup/store/store-error.ts';
import { messageOf } from '../kube/error-message.ts';
import { InvalidConfiguration, type Outcome, wait } from '../engine/outcome.ts';
import { findTask } from '../engine/tasks/task.ts';
import type { Scope } from './scope.ts';
import { secretProps } from '../certificates/secret-props.ts';

const workName = 'identity';
const retryMs = 30_000;

/**
 * Adopts CAs and keys from a backup, if the spec asks for it and before the operator creates any. Workers, kubeconfigs
 * and tokens then continue to work. Undefined when there is nothing to adopt, or when it is done.
 */
export async function takeOverIdentity(scope: Scope): Promise<Outcome | undefined> {
  const { cluster, hostedControlPlane, work } = scope;
  const { restore, backup } = cluster.spec.etcd;
  const { from } = restore ?? {};
  // A control plane that has served has workers, which other CAs would cut off.
  if (!restore || !from?.identity || hostedControlPlane.status?.initialization?.controlPlaneInitialized)
    return undefined;
  const source = `${from.namespace}/${from.cluster}`;
  const last = await findUsersObject<SecretObject>(scope, Secret, namesOf(cluster.name).secrets.clusterCA);
  if (last) return last.metadata.annotations?.[identityAnnotation] === source ? undefined : foreign(last, source);
  if (!backup) {
    return wait(
      'BackupSecretInvalid',
      'etcd.restore needs etcd.backup, which has the address of the bucket: set etcd.backup too',
    );
  }

  const task = findTask<Identity>(work, scope.now, {
    name: workName,
    inputsKey: JSON.stringify(restore),
    retryMs,
    turn: 'restore',
  });
  if (task.isDue) {
    const owner = { namespace: from.namespace, cluster: from.cluster };
    const place = { namespace: cluster.namespace, store: backup, storeReader: scope.storeReader };
    const restoreSource = { restore, owner, cluster: cluster.name, ...place };
    task.start(({ signal }) => readIdentity(restoreSource, signal));
  }
  const { state } = task;
  if (task.isDue || state.kind === 'idle' || state.kind === 'running') {
    return wait('TakingOverIdentity', `the operator reads the CAs and keys of ${source} from a backup`);
  }
  switch (state.kind) {
    case 'failed':
      return wait(reasonOf(state.error), `cannot adopt the CAs of ${source}: ${messageOf(state.error)}`, {
        afterMs: retryMs,
      });
    case 'done': {
      const problem = await create(scope, state.result, source);
      // Keys stay in memory no longer than needed.
      if (!problem) work.cancel(workName);
      return problem;
    }
  }
}

/**
 * Creates the Secrets, that of the cluster CA last, because it marks the others as complete. Returns the problem, if
 * any.
 */
async function create(scope: Scope, { secrets }: Identity, source: string): Promise<Outcome | undefined> {
  const last = namesOf(scope.cluster.name).secrets.clusterCA;
  const inOrder = [...secrets].sort((a, b) => Number(a.name === last) - Number(b.name === last));
  for (const secret of inOrder) {
    const live = await scope.writer.createOnce<SecretObject>(secretOf(scope, secret, source));
    if (!isDeepStrictEqual(live.data, secret.data)) return foreign(live, source);
  }
  return undefined;
}

function secretOf(scope: Scope, { name, type, annotations, data }: KeptSecret, source: string): RenderedObject {
  const { namespace, cluster, owner } = secretProps(scope, name);
  return {
    apiVersion: Secret.apiVersion,
    kind: Secret.kind,
    metadata: {
      name,
      namespace,
      labels: objectLabels(cluster, 'certificates'),
      annotations: { ...annotations, [identityAnnotation]: source },
      ownerReferences: [owner],
      finalizers: [keyFinalizer],
    },
    ...(type ? { type } : {}),
    data,
  };
}

function foreign({ metadata }: SecretObject, source: string): Outcome {
  return wait(
    'CACertificateInvalid',
    `Secret ${metadata.name} already exists and does not belong to ${source}: delete it, or set etcd.restore.from.identity: false`,
    { afterMs: retryMs },
  );
}

function reasonOf(error: unknown): ConditionReason<'CACertificatesReady'> {
  if (error instanceof InvalidConfiguration) return 'BackupSecretInvalid';
  if (error instanceof RecoveryBundleNotFound) return 'BackupNotFound';
  return error instanceof StoreError ? 'StoreUnavailable' : 'BackupUnusable';
}
