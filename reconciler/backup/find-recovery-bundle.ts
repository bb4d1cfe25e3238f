import type { Backup } from '../../constructs/api/backup-spec.ts';
import { type RecoveryBundle, readRecoveryBundle } from './recovery-bundle.ts';
import { type Choice, chosenBackup } from './choose-backup.ts';
import { ClusterBackups } from './cluster-backups.ts';
import { backupId, type BackupOwner } from './names.ts';
import { openStore, type StoreReader } from './store-access.ts';

/** Which bundle, and how to get at it. */
export interface RecoveryBundleRequest {
  /** Whose backup. */
  readonly owner: BackupOwner;
  readonly choice: Choice;
  /** Namespace of the Secrets that open the store. */
  readonly namespace: string;
  readonly store: Pick<Backup, 'secret' | 'webIdentity' | 'encryption'>;
  readonly storeReader: StoreReader;
}

/** There is no such backup, or it has no bundle. */
export class RecoveryBundleNotFound extends Error {
  override readonly name = 'BundleNotFound';
}

/**
 * Reads the bundle beside a backup.
 * @throws RecoveryBundleNotFound; InvalidConfiguration for Secrets; StoreError; any other error for a bundle that is no good
 */
export async function findRecoveryBundle(
  { owner, choice, namespace, store: spec, storeReader }: RecoveryBundleRequest,
  signal?: AbortSignal,
): Promise<{ readonly backup: string; readonly bundle: RecoveryBundle }> {
  const { store, keys } = await openStore(namespace, spec, storeReader);
  try {
    const backups = new ClusterBackups(store, owner, keys);
    const chosen = chosenBackup(choice, (await backups.list(signal)).backups);
    if (!chosen)
      throw new RecoveryBundleNotFound(`there is no such backup of ${owner.namespace}/${owner.cluster} in the bucket`);
    const backup = backupId(chosen);
    const { objects } = await backups.manifest(chosen, signal);
    if (objects.bundle === undefined) {
      throw new RecoveryBundleNotFound(
        `backup ${backup} holds no authorities and keys, because it was stored without encryption: workers of a cluster made from it have to join anew`,
      );
    }
    return { backup, bundle: await readRecoveryBundle(backups.readRecoveryBundle(chosen, signal)) };
  } finally {
    store.close();
  }
}
