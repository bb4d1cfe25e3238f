import { messageOf } from '../kube/error-message.ts';
import { InvalidConfiguration } from '../engine/outcome.ts';
import { StoreError } from './store-error.ts';

/** Why a backup failed, as reason of a condition and as a sentence for the user. */
export interface BackupFailure {
  readonly reason: 'BackupSecretInvalid' | 'StoreUnavailable' | 'BackupFailed';
  readonly message: string;
}

/** What is wrong with Secrets, with the store, or with anything else. */
export function backupFailure(error: unknown): BackupFailure {
  const message = messageOf(error);
  if (error instanceof InvalidConfiguration) return { reason: 'BackupSecretInvalid', message };
  return { reason: error instanceof StoreError ? 'StoreUnavailable' : 'BackupFailed', message };
}

/** The reasons of {@link backupFailure}. */
export const failureReasons: readonly string[] = ['BackupSecretInvalid', 'StoreUnavailable', 'BackupFailed'];
