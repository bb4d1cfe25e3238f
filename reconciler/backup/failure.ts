import { messageOf } from '../kube/error-message.ts';
import { InvalidConfiguration } from '../engine/outcome.ts';
import { StoreError } from './store/store-error.ts';
import type { ConditionReason } from '../../constructs/api/conditions.ts';

/** Why a backup failed: a condition's reason, and a sentence for the user. */
export interface BackupFailure {
  readonly reason: 'BackupSecretInvalid' | 'StoreUnavailable' | 'BackupFailed';
  readonly message: string;
}

/** Whether Secrets, the store, or anything else is the cause. */
export function backupFailure(error: unknown): BackupFailure {
  const message = messageOf(error);
  if (error instanceof InvalidConfiguration) return { reason: 'BackupSecretInvalid', message };
  return { reason: error instanceof StoreError ? 'StoreUnavailable' : 'BackupFailed', message };
}

/** All reasons of {@link backupFailure}. */
export const failureReasons: readonly string[] = ['BackupSecretInvalid', 'StoreUnavailable', 'BackupFailed'];

/** The backup itself is unusable. Another attempt would have the same result. */
export class BackupUnusable extends Error {
  override readonly name = 'BackupUnusable';
}

/** Why a verification failed: a condition's reason, and a sentence for the user. */
interface VerificationFailure {
  readonly reason: ConditionReason<'EtcdBackupVerified'>;
  readonly message: string;
}

/** Whether the backup, the store, its Secrets or anything else is the cause. */
export function verificationFailure(error: unknown): VerificationFailure {
  if (error instanceof BackupUnusable) return { reason: 'BackupUnusable', message: error.message };
  const { reason, message } = backupFailure(error);
  return { reason: reason === 'BackupFailed' ? 'VerificationFailed' : reason, message };
}
