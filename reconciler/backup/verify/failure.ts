import type { ConditionReason } from '../../../constructs/api/conditions.ts';
import { backupFailure } from '../failure.ts';

/** The backup itself is unusable. Another attempt would have the same result. */
export class BackupUnusable extends Error {
  override readonly name = 'BackupUnusable';
}

/** Why a verification failed: a condition's reason, and a sentence for the user. */
export interface VerificationFailure {
  readonly reason: ConditionReason<'EtcdBackupVerified'>;
  readonly message: string;
}

/** Whether the backup, the store, its Secrets or anything else is the cause. */
export function verificationFailure(error: unknown): VerificationFailure {
  if (error instanceof BackupUnusable) return { reason: 'BackupUnusable', message: error.message };
  const { reason, message } = backupFailure(error);
  return { reason: reason === 'BackupFailed' ? 'VerificationFailed' : reason, message };
}
