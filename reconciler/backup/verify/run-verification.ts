import type { PodObject } from '../../../imports/kubernetes.ts';
import type { Backup } from '../../../constructs/api/backup-spec.ts';
import { Pod } from '../../../constructs/api/resources.ts';
import { renderControlPlane } from '../../../constructs/control-plane/chart.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import type { WorkContext } from '../../engine/tasks/background-work.ts';
import { etcdCredentials } from '../../etcd/access.ts';
import { systemClock } from '../../kube/clock.ts';
import { operatorImageOf } from '../receiver/operator-image.ts';
import type { Facts } from '../../../constructs/cluster/facts.ts';
import type { ControlPlaneContext } from '../../clusters/management/view.ts';
import { ClusterBackups } from '../cluster-backups.ts';
import type { BackupName } from '../../../constructs/cluster/backup-names.ts';
import { openStore, type StoreReader } from '../store/store-access.ts';
import { restoreForVerification } from './restore.ts';
import type { Verification } from '../verification-settings.ts';

/** What a verification works with. */
export interface VerificationContext extends ControlPlaneContext {
  readonly facts: Facts;
  readonly storeReader: StoreReader;
}

/** Verifies a backup in a pod, which is removed in any case. */
export function runVerification(
  scope: VerificationContext,
  spec: Backup,
  name: BackupName,
  context: WorkContext,
): Promise<Verification> {
  const { cluster, facts, reader, writer } = scope;
  return withBackups(scope, spec, async (backups) => {
    try {
      return await restoreForVerification(
        {
          cluster,
          backups,
          backup: name,
          credentials: etcdCredentials(cluster.name, reader),
          createPod: async (run, { sizeBytes, sha256 }) => {
            const etcdVerify = { run, sizeBytes, sha256, operatorImage: operatorImageOf(scope) };
            await writer.apply(renderControlPlane(cluster, { ...facts, etcdVerify }, 'etcd-verify'));
          },
          pod: () => reader.get<PodObject>(Pod, namesOf(cluster.name).etcdVerify),
          clock: systemClock,
        },
        context,
      );
    } finally {
      await removeVerificationPods(scope);
    }
  });
}

/** Opens the store of a control plane for the duration of `use`. */
export async function withBackups<T>(
  { cluster: { namespace, name }, storeReader }: VerificationContext,
  spec: Backup,
  use: (backups: ClusterBackups) => Promise<T>,
): Promise<T> {
  const owner = { namespace, cluster: name };
  const { store, keys } = await openStore({ namespace, owner }, spec, storeReader);
  try {
    return await use(new ClusterBackups(store, owner, keys));
  } finally {
    store.close();
  }
}

/** Deletes all pods of verifications, and returns how many still exist. */
export async function removeVerificationPods({ cluster, reader, writer }: VerificationContext): Promise<number> {
  const pods = reader.list(Pod, selectorLabels(cluster.name, 'etcd-verify'));
  for (const pod of pods) if (!pod.metadata.deletionTimestamp) await writer.delete(Pod, pod);
  return pods.length;
}
