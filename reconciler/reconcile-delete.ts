import { clusterNameLabel, finalizer } from '../constructs/api/group.ts';
import { Deployment, Secret, Service, StatefulSet } from '../constructs/api/resources.ts';
import { namesOf } from '../constructs/cluster/names.ts';
import type { RequeueAt } from './engine/requeue.ts';
import { reportForeignControlPlane } from './admission/foreign-control-plane.ts';
import { finalBackup } from './backup/final-backup.ts';
import { openEtcd } from './etcd/access.ts';
import { storeReaderOf } from './backup/store-reader.ts';
import { removeFinalizer } from './management/finalizer.ts';
import type { Admission } from './admission/admit.ts';
import { isControlledBy, type KubeObject } from './kube/object.ts';
import type { Outcome } from './engine/outcome.ts';
import type { ReconcileContext } from './memory.ts';
import { deleteControlPlane } from './phases/deletion.ts';
import { conditionUpdate, notPaused } from './engine/condition-update.ts';
import type { DeploymentObject } from './kube/readiness.ts';
import { createDeletionWriter } from './management/writer.ts';
import { countsOf } from './status/api-servers.ts';

type Deleting = Extract<Admission, { kind: 'deleting' }>;

/** Deletes the control plane of a deleted HostedControlPlane, and removes the finalizer when nothing of it is left. */
export async function reconcileDelete(context: ReconcileContext, admission: Deleting): Promise<RequeueAt> {
  const { key, object, options, memory } = context;
  if (!object.metadata.finalizers?.includes(finalizer)) return undefined;

  const owner = ownerOf(context, admission);
  if (owner !== undefined) {
    if (await reportForeignControlPlane(context, owner.cluster)) return undefined;
    const outcome = await deletionOf(context, owner);
    if (outcome.kind === 'wait') {
      const updates = {
        ...notPaused,
        Deleting: conditionUpdate('True', outcome.reason, outcome.message),
        Ready: conditionUpdate('False', 'Deleting', `the control plane is being deleted: ${outcome.message}`),
      };
      const { fields, available } = served(context, owner.cluster);
      await options.statusWriter.patch(object, { ...updates, ...available }, { isObserved: true, fields });
      // Without the owner reference no change of another object leads to this one.
      const afterMs = outcome.afterMs ?? (admission.cluster === undefined ? unownedMs : undefined);
      return afterMs === undefined ? undefined : new Date(options.clock.now() + afterMs);
    }
  }

  await removeFinalizer(options.client, object);
  await memory.forget(key);
  return undefined;
}

const unownedMs = 2_000;

/** What the status says of API servers, which serve until no workers are left. Cluster API reads it until the end. */
function served({ object, options }: ReconcileContext, cluster: string) {
  const reader = options.management.readerOf(object.metadata.namespace ?? '', cluster);
  const apiServer = reader.get<DeploymentObject>(Deployment, namesOf(cluster).apiServer);
  const { spec: { version = '' } = {} }: KubeObject & { readonly spec?: { readonly version?: string } } = object;
  const fields = countsOf({ apiServer, spec: { version } });
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

function deletionOf(
  { key, object, options: { client, management, clock, reach }, memory }: ReconcileContext,
  { cluster, clusterIsGone }: Owner,
): Promise<Outcome> {
  const { namespace = '', name, uid } = object.metadata;
  const reader = management.readerOf(namespace, cluster);
  return deleteControlPlane({
    cluster,
    ownerUid: uid,
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
        storeReader: storeReaderOf(client, { namespace, name }),
        work: memory.work.of(key),
        now: new Date(clock.now()),
      }),
    reader,
    writer: createDeletionWriter({ client, namespace, cluster, clusterIsGone }),
  });
}

function retainsVolumes({ spec }: KubeObject & { spec?: { etcd?: { volumeRetention?: string } } }): boolean {
  return spec?.etcd?.volumeRetention === 'Retain';
}
