import type { Backup } from '../../../constructs/api/backup-spec.ts';
import { durationSeconds } from '../../../constructs/api/duration.ts';
import type { EtcdStatus } from '../../../constructs/api/etcd-status.ts';
import type { ClusterBackups, StoredBackup } from '../cluster-backups.ts';
import { backupId } from '../names.ts';
import { StoreError } from '../store-error.ts';
import type { VerificationRules } from './plan.ts';

/** What the store says of backups and their trials. */
export interface VerificationInventory {
  /** Newest first. */
  readonly backups: readonly StoredBackup[];
  /** The newest one that was good. */
  readonly lastVerified: NonNullable<EtcdStatus['lastVerifiedBackup']> | undefined;
}

/** Asks the store: it alone outlives a status that is lost, and knows what an operator that was killed has done. */
export async function listVerifications(
  store: Pick<ClusterBackups, 'list' | 'verification'>,
  signal?: AbortSignal,
): Promise<VerificationInventory> {
  const { backups } = await store.list(signal);
  const verified = backups.find(({ isVerified }) => isVerified);
  const noted = verified && (await store.verification(verified).catch(unreadable));
  if (!noted) return { backups, lastVerified: undefined };
  const { time, restoreSeconds } = noted;
  return { backups, lastVerified: { name: backupId(verified), time, restoreSeconds: Math.ceil(restoreSeconds) } };
}

/** A note that somebody has damaged must not keep the next backup from being tried. */
function unreadable(error: unknown): undefined {
  if (error instanceof StoreError) throw error;
}

/** When backups are tried, as the spec says it. @param identity namespace and name, which decide what `@daily` means */
export function verificationRules({ verify, retention, timeZone }: Backup, identity: string): VerificationRules {
  const { maxCount, maxAge } = retention;
  return {
    every: verify.every,
    schedule: verify.schedule === undefined ? undefined : { expression: verify.schedule, timeZone, identity },
    retention: { maxCount, maxAgeMs: maxAge === undefined ? undefined : durationSeconds(maxAge) * 1000 },
  };
}
