import { finalizer } from '../constructs/api/group.ts';
import type { RequeueAt } from './engine/requeue.ts';
import { finalBackup } from './backup/final-backup.ts';
import { openEtcd } from './etcd/access.ts';
import { storeReaderOf } from './backup/store-reader.ts';
import { removeFinalizer } from './management/finalizer.ts';
import type { Admission } from './admission.ts';
import type { KubeObject } from './kube/object.ts';
import type { Outcome } from './engine/outcome.ts';
import type { ReconcileContext } from './memory.ts';
import { deleteControlPlane } from './phases/deletion.ts';
import { conditionUpdate } from './engine/condition-update.ts';
import { createDeletionWriter } from './management/writer.ts';

type Deleting = Extract<Admission, { kind: 'deleting' }>;

/** Deletes the control plane of a deleted HostedControlPlane, and removes the finalizer when nothing of it is left. */
export async function reconcileDelete(
  context: ReconcileContext,
  { cluster, clusterIsDeleting }: Deleting,
): Promise<RequeueAt> {
  const { key, object, options, memory } = context;
  if (!object.metadata.finalizers?.includes(finalizer)) return undefined;

  if (cluster !== undefined) {
    const outcome = await deletionOf(context, cluster, clusterIsDeleting);
    if (outcome.kind === 'wait') {
      await options.statusWriter.patch(object, {
        Deleting: conditionUpdate('True', outcome.reason, outcome.message),
        Ready: conditionUpdate('False', 'NotReady', `the control plane is being deleted: ${outcome.message}`),
      });
      return outcome.afterMs === undefined ? undefined : new Date(options.clock.now() + outcome.afterMs);
    }
  }

  await removeFinalizer(options.client, object);
  await memory.forget(key);
  return undefined;
}

function deletionOf(
  { key, object, options: { client, management, clock, reach }, memory }: ReconcileContext,
  cluster: string,
  clusterIsDeleting: boolean,
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
    writer: createDeletionWriter({ client, namespace, cluster, clusterIsDeleting }),
  });
}

function retainsVolumes({ spec }: KubeObject & { spec?: { etcd?: { volumeRetention?: string } } }): boolean {
  return spec?.etcd?.volumeRetention === 'Retain';
}
