import { Secret } from '../../../constructs/api/resources.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import { type RecoveryBundle, readRecoveryBundle } from '../recovery-bundle.ts';
import type { BackupOwner } from '../../../constructs/cluster/backup-names.ts';
import { StoreError } from '../store/store-error.ts';
import { keysIn } from '../../encryption-at-rest/adopt.ts';
import type { Key } from '../../encryption-at-rest/configuration.ts';
import { readEncryptionKeys } from '../../encryption-at-rest/secret.ts';

/** Owner of the backup, and whether it is the restored Cluster. */
export interface KeyOwner {
  readonly owner: BackupOwner;
  readonly isOwn: boolean;
}

/**
 * The keys that encrypt Secrets of a backup, from the stream of its recovery bundle.
 * @throws StoreError; for a backup of another Cluster also any other error for an unusable bundle
 */
export async function readBackupKeys(
  stream: AsyncIterable<Uint8Array>,
  { owner, isOwn }: KeyOwner,
): Promise<readonly Key[]> {
  try {
    return recoveryBundleKeys(await readRecoveryBundle(stream), owner.cluster);
  } catch (error) {
    const isAway = error instanceof StoreError && error.reason !== 'ObjectNotFound';
    // The Secret of this cluster contains the keys of its own backups. An unusable bundle must not block access to its
    // own data.
    if (!isOwn || isAway) throw error;
    return [];
  }
}

/**
 * The keys in a bundle; none if the cluster does not encrypt Secrets.
 * @param cluster owner of the backup
 * @throws a sentence for the user, without content of the bundle
 */
export function recoveryBundleKeys({ secrets }: RecoveryBundle, cluster: string): Key[] {
  const name = namesOf(cluster).secrets.encryption;
  const found = secrets.find((secret) => secret.name === name);
  if (!found) return [];
  const { apiVersion, kind } = Secret;
  const keys = readEncryptionKeys({ apiVersion, kind, metadata: { name }, data: found.data });
  if (!keys)
    throw new Error(
      `the recovery bundle contains Secret ${name} without a valid encryption configuration: use another backup`,
    );
  return keysIn(keys);
}
