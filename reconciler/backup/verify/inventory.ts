import type { Backup } from '../../../constructs/api/backup-spec.ts';
import type { EtcdStatus } from '../../../constructs/api/etcd-status.ts';
import type { ClusterBackups, StoredBackup } from '../cluster-backups.ts';
import { readFolder } from '../own-backups.ts';
import type { Incarnation } from '../ownership.ts';
import { backupId } from '../../../constructs/cluster/backup-names.ts';
import { retentionOf } from '../retention.ts';
import { StoreError } from '../store/store-error.ts';
import type { VerificationRules } from './plan-verification.ts';

/** The backups and verification results in the store. */
export interface VerificationInventory {
  /** Its own, newest first. */
  readonly backups: readonly StoredBackup[];
  /** The newest verified backup. */
  readonly lastVerified: NonNullable<EtcdStatus['lastVerifiedBackup']> | undefined;
}

/**
 * Reads the store, because only the store survives the loss of a status and contains the results of a killed operator.
 */
export async function listVerifications(
  store: ClusterBackups,
  incarnation: Incarnation,
  signal?: AbortSignal,
): Promise<VerificationInventory> {
  const { own: backups } = await readFolder(store, incarnation, signal);
  const verified = backups.find(({ isVerified }) => isVerified);
  const result = verified && (await store.verification(verified).catch(unreadable));
  if (!result) return { backups, lastVerified: undefined };
  const { time, restoreSeconds } = result;
  return { backups, lastVerified: { name: backupId(verified), time, restoreSeconds: Math.ceil(restoreSeconds) } };
}

/** A damaged result must not prevent the verification of the next backup. */
function unreadable(error: unknown): undefined {
  if (error instanceof StoreError) throw error;
}

/**
 * When backups are verified, according to the spec. @param identity namespace and name, which determine the time of
 * `@daily` and its like
 */
export function verificationRules(backup: Backup, identity: string): VerificationRules {
  const { verify, timeZone } = backup;
  return {
    every: verify.every,
    schedule: verify.schedule === undefined ? undefined : { expression: verify.schedule, timeZone, identity },
    retention: retentionOf(backup),
  };
}
