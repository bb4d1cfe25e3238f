import { findUsersObject } from '../management/users-objects.ts';
import { isDeepStrictEqual } from 'node:util';
import type { ConditionReason } from '../../constructs/api/conditions.ts';
import { identityAnnotation } from '../../constructs/api/group.ts';
import { Secret } from '../../constructs/api/resources.ts';
import type { RenderedObject } from '../../constructs/control-plane/chart.ts';
import { objectLabels } from '../../constructs/cluster/labels.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import { RecoveryBundleNotFound } from '../backup/find-recovery-bundle.ts';
import { StoreError } from '../backup/store-error.ts';
import { messageOf } from '../kube/error-message.ts';
import { InvalidConfiguration, type Outcome, wait } from '../engine/outcome.ts';
import type { SecretObject } from '../pki/secret.ts';
import { type Identity, type KeptSecret, readIdentity } from '../restore/read-identity.ts';
import { findTask } from '../tasks/task.ts';
import type { Scope } from './scope.ts';
import { secretProps } from '../pki/secret-props.ts';

const workName = 'identity';
const retryMs = 30_000;

/**
 * Takes authorities and keys over from a backup, where the spec asks for it and before any of our own are made: with them
 * workers, kubeconfigs and tokens go on. Undefined when there is nothing to take over, or it was done.
 */
export async function takeOverIdentity(scope: Scope): Promise<Outcome | undefined> {
  const { cluster, hostedControlPlane, work } = scope;
  const { restore, backup } = cluster.spec.etcd;
  const { from } = restore ?? {};
  // a control plane that has served has workers, whom other authorities would cut off
  if (!restore || !from?.identity || hostedControlPlane.status?.initialization?.controlPlaneInitialized)
    return undefined;
  const source = `${from.namespace}/${from.cluster}`;
  const last = await findUsersObject<SecretObject>(scope, Secret, namesOf(cluster.name).secrets.clusterCA);
  if (last) return last.metadata.annotations?.[identityAnnotation] === source ? undefined : foreign(last, source);
  if (!backup) {
    return wait('BackupSecretInvalid', 'etcd.restore needs etcd.backup, which says where backups are: set it too');
  }

  const task = findTask<Identity>(work, scope.now, { name: workName, inputsKey: JSON.stringify(restore), retryMs });
  if (task.isDue) {
    const owner = { namespace: from.namespace, cluster: from.cluster };
    const place = { namespace: cluster.namespace, store: backup, storeReader: scope.storeReader };
    const restoreSource = { restore, owner, cluster: cluster.name, ...place };
    task.start(({ signal }) => readIdentity(restoreSource, signal));
  }
  const { state } = task;
  if (task.isDue || state.kind === 'idle' || state.kind === 'running') {
    return wait('TakingOverIdentity', `authorities and keys of ${source} are read from a backup`);
  }
  switch (state.kind) {
    case 'failed':
      return wait(reasonOf(state.error), `take over authorities of ${source}: ${messageOf(state.error)}`, {
        afterMs: retryMs,
      });
    case 'done': {
      const problem = await create(scope, state.result, source);
      // keys are in memory no longer than it takes
      if (!problem) work.cancel(workName);
      return problem;
    }
  }
}

/** Makes the Secrets, the authority of the cluster last: it says that all are there. Gives what is in the way. */
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
    },
    ...(type ? { type } : {}),
    data,
  };
}

function foreign({ metadata }: SecretObject, source: string): Outcome {
  return wait(
    'CACertificateInvalid',
    `Secret ${metadata.name} was there before and is not that of ${source}: delete it, or set etcd.restore.from.identity: false`,
    { afterMs: retryMs },
  );
}

function reasonOf(error: unknown): ConditionReason<'CACertificatesReady'> {
  if (error instanceof InvalidConfiguration) return 'BackupSecretInvalid';
  if (error instanceof RecoveryBundleNotFound) return 'BackupNotFound';
  return error instanceof StoreError ? 'StoreUnavailable' : 'BackupUnusable';
}
