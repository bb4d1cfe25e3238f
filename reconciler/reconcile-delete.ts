import { finalizer } from '../constructs/api/group.ts';
import type { Again } from './engine/requeue.ts';
import { finalBackup } from './backup/final-backup.ts';
import { storeInquiriesOf } from './backup/store-inquiries.ts';
import { removeFinalizer } from './management/finalizer.ts';
import type { Admission } from './admission.ts';
import type { KubeObject } from './kube/object.ts';
import type { Outcome } from './engine/outcome.ts';
import type { Pass } from './pass.ts';
import { deleteControlPlane } from './phases/deletion.ts';
import { verdict } from './engine/condition-update.ts';
import { createRemover } from './management/writer.ts';

type Deleting = Extract<Admission, { kind: 'deleting' }>;

/** Takes a deleted HostedControlPlane's control plane down, and lets go of the object when nothing of it is left. */
export async function takeDown(pass: Pass, { cluster, clusterIsDeleting }: Deleting): Promise<Again> {
  const { key, object, options, memory } = pass;
  if (!object.metadata.finalizers?.includes(finalizer)) return undefined;

  if (cluster !== undefined) {
    const outcome = await deletionOf(pass, cluster, clusterIsDeleting);
    if (outcome.kind === 'wait') {
      await options.statusWriter.patch(object, {
        Deleting: verdict('True', outcome.reason, outcome.message),
        Ready: verdict('False', 'NotReady', `being deleted: ${outcome.message}`),
      });
      return outcome.afterMs === undefined ? undefined : new Date(options.clock.now() + outcome.afterMs);
    }
  }

  await removeFinalizer(options.client, object);
  await memory.forget(key);
  return undefined;
}

function deletionOf(
  { key, object, options: { client, management, clock }, memory }: Pass,
  cluster: string,
  clusterIsDeleting: boolean,
): Promise<Outcome> {
  const { namespace = '', uid } = object.metadata;
  const world = management.worldOf(namespace, cluster);
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
        world,
        storeInquiries: storeInquiriesOf(client, namespace),
        work: memory.work.of(key),
        now: new Date(clock.now()),
      }),
    world,
    remover: createRemover({ client, namespace, cluster, clusterIsDeleting }),
  });
}

function retainsVolumes({ spec }: KubeObject & { spec?: { etcd?: { volumeRetention?: string } } }): boolean {
  return spec?.etcd?.volumeRetention === 'Retain';
}
