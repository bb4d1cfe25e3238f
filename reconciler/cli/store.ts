import type { ClusterBackups } from '../backup/cluster-backups.ts';
import type { BackupOwner } from '../../constructs/cluster/backup-names.ts';
import { withBackups as open } from '../backup/with-backups.ts';
import { storeReaderOf } from '../backup/store/store-reader.ts';
import type { Session } from './command.ts';
import type { ControlPlane } from './control-plane.ts';

/**
 * Opens the bucket of a control plane with the user's own permission for its Secret, and closes it afterwards. Lists
 * and manifests are not encrypted, so that users need no permission to read the encryption keys of backups.
 * @param other owner of the backups in that bucket; the control plane itself when unset
 */
export async function withBackups<T>(
  { client, namespace }: Session,
  { cluster, object }: ControlPlane,
  other: BackupOwner | undefined,
  use: (backups: ClusterBackups) => Promise<T>,
): Promise<T> {
  const { backup } = object.spec.etcd;
  if (!backup) {
    throw new Error(
      `HostedControlPlane ${object.metadata.name} has no backups: set spec.etcd.backup with a bucket and a schedule`,
    );
  }
  const owner = other ?? { namespace, cluster };
  const storeReader = storeReaderOf(client, { namespace, name: object.metadata.name });
  return open({ namespace, owner, store: { ...backup, encryption: undefined }, storeReader }, use);
}
