import { ClusterBackups } from '../backup/cluster-backups.ts';
import type { BackupOwner } from '../backup/names.ts';
import { openStore } from '../backup/store-access.ts';
import { storeReaderOf } from '../backup/store-reader.ts';
import type { Session } from './command.ts';
import type { ControlPlane } from './control-plane.ts';

/**
 * Opens the bucket of a control plane by the user's own rights on its Secret, and closes it afterwards. What is listed is
 * stored in clear, so that nobody needs the right to read the keys that encrypt backups.
 * @param owner whose backups, in that bucket; the control plane's own when unset
 */
export async function withBackups<T>(
  { client, namespace }: Session,
  { cluster, object }: ControlPlane,
  owner: BackupOwner | undefined,
  use: (backups: ClusterBackups) => Promise<T>,
): Promise<T> {
  const { backup } = object.spec.etcd;
  if (!backup) {
    throw new Error(
      `HostedControlPlane ${object.metadata.name} has no backups: set spec.etcd.backup, with a bucket and a schedule`,
    );
  }
  const requestCaches = storeReaderOf(client, namespace);
  const { store } = await openStore(namespace, { ...backup, encryption: undefined }, requestCaches);
  try {
    return await use(new ClusterBackups(store, owner ?? { namespace, cluster }));
  } finally {
    store.close();
  }
}
