import type { ConditionReason } from '../../../constructs/api/conditions.ts';
import { backupFailure } from '../failure.ts';

/** The backup itself is no good: no other attempt would show anything else. */
export class BackupUnusable extends Error {
  override readonly name = 'BackupUnusable';
}

/** Why a trial restore failed, as reason of a condition and as a sentence for the user. */
export interface VerificationFailure {
  readonly reason: ConditionReason<'EtcdBackupVerified'>;
  readonly message: string;
}

/** Whether the backup, the store, its Secrets or anything else is at fault. */
export function verificationFailure(error: unknown): VerificationFailure {
  if (error instanceof BackupUnusable) return { reason: 'BackupUnusable', message: error.message };
  const { reason, message } = backupFailure(error);
  return { reason: reason === 'BackupFailed' ? 'VerificationFailed' : reason, message };
}
