import { messageOf } from '../kube/error-message.ts';
import { InvalidConfiguration } from '../engine/outcome.ts';
import { StoreError } from './store/store-error.ts';

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
