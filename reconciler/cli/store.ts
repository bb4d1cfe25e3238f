import { Secret } from '../../constructs/api/resources.ts';
import { ClusterBackups } from '../backup/cluster-backups.ts';
import type { BackupOwner } from '../backup/names.ts';
import { ObjectStore } from '../backup/object-store.ts';
import { readStoreSettings } from '../backup/store-settings.ts';
import type { SecretObject } from '../pki/secret.ts';
import type { Session } from './command.ts';
import type { ControlPlane } from './control-plane.ts';

/**
 * Opens the bucket of a control plane by the user's own rights on its Secret, and closes it afterwards.
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
  const secret = await client.get<SecretObject>(Secret, { namespace, name: backup.secret.name });
  const store = new ObjectStore(readStoreSettings(secret.data ?? {}, backup.secret));
  try {
    return await use(new ClusterBackups(store, owner ?? { namespace, cluster }));
  } finally {
    store.close();
  }
}
