import type { Backup } from '../../constructs/api/backup-spec.ts';
import type { BackupOwner } from '../../constructs/cluster/backup-names.ts';
import { ClusterBackups } from './cluster-backups.ts';
import { type OwnerNames, ownerOf } from './ownership.ts';
import { openStore, type StoreReader } from './store/store-access.ts';

/** The backups of one owner in a bucket, and the rights to read them. */
export interface StoredBackups {
  readonly owner: BackupOwner;
  /** Namespace of the HostedControlPlane, whose Secrets give access to the store. */
  readonly namespace: string;
  readonly store: Pick<Backup, 'secret' | 'webIdentity' | 'encryption'>;
  readonly storeReader: StoreReader;
}

/** The backups that a control plane takes. */
export function ownBackups(
  { cluster, storeReader }: { readonly cluster: OwnerNames; readonly storeReader: StoreReader },
  store: StoredBackups['store'],
): StoredBackups {
  return { owner: ownerOf(cluster), namespace: cluster.namespace, store, storeReader };
}

/**
 * Opens backups for the duration of `use`.
 * @throws InvalidConfiguration for Secrets, StoreError for the store, and the errors of `use`
 */
export async function withBackups<T>(
  { namespace, store: spec, storeReader, owner }: StoredBackups,
  use: (backups: ClusterBackups, hasKeys: boolean) => Promise<T>,
): Promise<T> {
  const { store, keys } = await openStore({ namespace, owner }, spec, storeReader);
  try {
    return await use(new ClusterBackups(store, owner, keys), keys.length > 0);
  } finally {
    store.close();
  }
}
