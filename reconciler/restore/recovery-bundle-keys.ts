import { Secret } from '../../constructs/api/resources.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import { type RecoveryBundle, readRecoveryBundle } from '../backup/recovery-bundle.ts';
import type { BackupOwner } from '../backup/names.ts';
import { StoreError } from '../backup/store-error.ts';
import { keysIn } from '../encryption-at-rest/adopt.ts';
import type { Key } from '../encryption-at-rest/configuration.ts';
import { readEncryptionKeys } from '../encryption-at-rest/secret.ts';

/** Whose backup it is, and whether that is the Cluster that is restored. */
export interface KeyOwner {
  readonly owner: BackupOwner;
  readonly isOwn: boolean;
}

/**
 * The keys that Secrets of a backup are stored under, from the stream of the bundle beside it.
 * @throws StoreError; for a backup of another Cluster any other error for a bundle that is no good
 */
export async function readBackupKeys(
  stream: AsyncIterable<Uint8Array>,
  { owner, isOwn }: KeyOwner,
): Promise<readonly Key[]> {
  try {
    return recoveryBundleKeys(await readRecoveryBundle(stream), owner.cluster);
  } catch (error) {
    const isAway = error instanceof StoreError && error.reason !== 'ObjectNotFound';
    // Our own Secret has the keys of our backups: a bundle that is no good must not keep us from our own data.
    if (!isOwn || isAway) throw error;
    return [];
  }
}

/**
 * The keys in a bundle; none of a cluster that stored in clear.
 * @param cluster whose backup it is
 * @throws a sentence for the user, which quotes nothing of it
 */
export function recoveryBundleKeys({ secrets }: RecoveryBundle, cluster: string): Key[] {
  const name = namesOf(cluster).secrets.encryption;
  const found = secrets.find((secret) => secret.name === name);
  if (!found) return [];
  const { apiVersion, kind } = Secret;
  const keys = readEncryptionKeys({ apiVersion, kind, metadata: { name }, data: found.data });
  if (!keys) throw new Error(`the bundle holds a Secret ${name} without a configuration of ours: use another backup`);
  return keysIn(keys);
}
