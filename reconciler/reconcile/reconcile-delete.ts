import type { HostedControlPlaneObject } from '../clusters/management/hosted-control-plane-object.ts';
import type { DeploymentObject, PodObject } from '../../imports/kubernetes.ts';
import { clusterNameLabel, finalizer } from '../../constructs/api/group.ts';
import { Deployment, Namespace, Pod, Secret, Service, StatefulSet } from '../../constructs/api/resources.ts';
import { selectorLabels } from '../../constructs/cluster/labels.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import { earliest, type RequeueAt } from '../engine/requeue.ts';
import { reportForeignControlPlane } from './foreign-control-plane.ts';
import { finalBackup } from '../backup/final-backup.ts';
import { openEtcd } from '../etcd/access.ts';
import { storeReaderOf } from '../backup/store/store-reader.ts';
import { removeFinalizer } from '../clusters/management/finalizer.ts';
import type { Admitted, Deleting } from './admit.ts';
import { isControlledBy } from '../kube/object.ts';
import type { Wait } from '../engine/outcome.ts';
import type { ReconcileContext } from './memory.ts';
import { deleteControlPlane, waitForWorkers } from '../phases/deletion.ts';
import type { DeletionScope } from '../phases/scope.ts';
import { reconcileNormal } from './reconcile-normal.ts';
import { conditionUpdate, type ConditionUpdates, notPaused } from '../engine/condition-update.ts';
import { createDeletionWriter } from '../clusters/management/writer.ts';
import { inQuarantine } from './quarantine/report.ts';
import { controlPlaneLeft, finalBackupLost } from './status/events.ts';
import { countsOf } from './status/api-servers.ts';

/** Deletes the control plane of a deleted HostedControlPlane, and removes the finalizer when nothing of it is left. */
export async function reconcileDelete(context: ReconcileContext, admission: Deleting): Promise<RequeueAt> {
  const { key, object, options, memory } = context;
  if (!object.metadata.finalizers?.includes(finalizer)) {
    await memory.suspend(key, { keepsWork: false });
    return undefined;
  }

  const owner = ownerOf(context, admission);
  if (owner !== undefined && (await reportForeignControlPlane(context, owner.cluster))) return undefined;
  if (leavesAll(context, owner?.cluster)) {
    await memory.suspend(key, { keepsWork: false });
    options.events.record(object, controlPlaneLeft(owner?.cluster));
  } else if (owner !== undefined) {
    const scope = scopeOf(context, owner);
    const workers = await waitForWorkers(scope);
    if (workers && admission.attended) return attend(context, admission.attended, workers);
    // The final backup takes many reconciles.
    await memory.suspend(key, { keepsWork: true });
    const outcome = workers ?? (await deleteControlPlane(scope));
    if (outcome.kind === 'wait') {
      const { fields, available } = served(context, owner.cluster);
      const updates = { ...notPaused, ...progressOf(outcome), ...available, ...inQuarantine(context.quarantined) };
      await options.statusWriter.patch(object, updates, { isObserved: true, fields });
      // Without the owner reference no change of another object leads to this one.
      return requeueOf(outcome, context) ?? (admission.cluster === undefined ? later(unownedMs, context) : undefined);
    }
  }

  await removeFinalizer(options.client, object);
  await memory.forget(key);
  return undefined;
}

/** The garbage collector takes it away once it has removed all owner references. */
const orphanDependents = 'orphan';

/**
 * Whether its user wants to keep everything: then a control plane that runs must not be deleted by half, before or after the garbage
 * collector has removed its owner references. One that has begun to stop ends as a whole.
 */
function leavesAll({ object, options }: ReconcileContext, cluster: string | undefined): boolean {
  const { metadata, status }: HostedControlPlaneObject = object;
  const deleting = status?.conditions?.find(({ type }) => type === 'Deleting');
  if (deleting?.status === 'True' && deleting.reason !== 'WaitingForWorkersDeletion') return false;
  if (metadata.finalizers?.includes(orphanDependents)) return true;
  if (cluster === undefined) return false;
  const apiServer = options.management
    .readerOf(metadata.namespace ?? '', cluster)
    .get(Deployment, namesOf(cluster).apiServer);
  return apiServer !== undefined && !apiServer.metadata.ownerReferences?.some(({ controller }) => controller);
}

/** Reconciles the control plane as before while workers use it: their certificates expire, and members of etcd fail. */
async function attend(context: ReconcileContext, attended: Admitted, workers: Wait): Promise<RequeueAt> {
  return earliest([await reconcileNormal(context, attended, progressOf(workers)), requeueOf(workers, context)]);
}

function progressOf({ reason, message }: Wait): ConditionUpdates {
  return {
    Deleting: conditionUpdate('True', reason, message),
    Ready: conditionUpdate('False', 'Deleting', `the control plane is being deleted: ${message}`),
  };
}

function requeueOf({ afterMs }: Wait, context: ReconcileContext): RequeueAt {
  return afterMs === undefined ? undefined : later(afterMs, context);
}

function later(afterMs: number, { options }: ReconcileContext): Date {
  return new Date(options.clock.now() + afterMs);
}

const unownedMs = 2_000;

/** What the status says of API servers, which serve until no workers are left. Cluster API reads it until the end. */
function served({ object, options }: ReconcileContext, cluster: string) {
  const reader = options.management.readerOf(object.metadata.namespace ?? '', cluster);
  const apiServer = reader.get<DeploymentObject>(Deployment, namesOf(cluster).apiServer);
  const { spec: { version = '' } = {} }: HostedControlPlaneObject = object;
  const apiServerPods = reader.list<PodObject>(Pod, selectorLabels(cluster, 'api-server'));
  const fields = countsOf({ apiServer, apiServerPods, spec: { version } });
  const available = conditionUpdate(
    'False',
    'Deleting',
    'no API server is available while the control plane is being deleted',
  );
  return { fields, available: fields.availableReplicas > 0 ? {} : { Available: available } };
}

/** The Cluster whose control plane is deleted. */
interface Owner {
  readonly cluster: string;
  readonly clusterIsGone: boolean;
}

/**
 * The Cluster that the object names as its owner. If that reference is gone, the labels of the objects that the operator
 * created name the Cluster: otherwise the volumes of etcd would stay without a report. Undefined if it created nothing.
 */
function ownerOf({ object, options }: ReconcileContext, admission: Deleting): Owner | undefined {
  if (admission.cluster !== undefined) return { ...admission, cluster: admission.cluster };
  const { namespace = '', uid } = object.metadata;
  // The deletion removes Secrets last.
  const made = [StatefulSet, Service, Secret]
    .flatMap((resource) => options.management.list(resource))
    .find((one) => one.metadata.namespace === namespace && isControlledBy(one, uid));
  const cluster = made?.metadata.labels?.[clusterNameLabel];
  if (cluster === undefined) return undefined;
  const found = options.management.findCluster(namespace, cluster);
  return { cluster, clusterIsGone: !found };
}

function scopeOf(
  { key, object, options: { client, management, clock, reach, events, destinations }, memory }: ReconcileContext,
  { cluster, clusterIsGone }: Owner,
): DeletionScope {
  const { namespace = '', name } = object.metadata;
  const reader = management.readerOf(namespace, cluster);
  const found = management.get(Namespace, { name: namespace });
  // Its Events are in another namespace: none can be created in this one any more.
  const ending = found?.metadata.deletionTimestamp === undefined ? undefined : found;
  const now = new Date(clock.now());
  return {
    cluster,
    owner: object.metadata,
    retainVolumes: retainsVolumes(object),
    finalBackup: () =>
      finalBackup({
        object,
        namespace,
        cluster,
        clusterObject: management.findCluster(namespace, cluster),
        reader,
        openEtcd: reach?.etcdMembers ?? openEtcd,
        clock,
        storeReader: storeReaderOf(client, { namespace, name }, destinations),
        work: memory.work.of(key),
        now,
        isNamespaceEnding: ending !== undefined,
        onLost: () => {
          if (ending) events.record(ending, finalBackupLost(`${namespace}/${name}`));
        },
      }),
    reader,
    writer: createDeletionWriter({ client, namespace, cluster, clusterIsGone }),
    now,
  };
}

function retainsVolumes({ spec }: HostedControlPlaneObject): boolean {
  return spec?.etcd?.volumeRetention === 'Retain';
}
