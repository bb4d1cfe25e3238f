import type { ConditionReason } from '../../constructs/api/conditions.ts';
import { messageOf } from '../kube/error-message.ts';
import { InvalidConfiguration } from '../outcome.ts';
import { StoreError } from './store-error.ts';

/** The backup itself is no good: no other attempt would show anything else. */
export class BackupUnusable extends Error {
  override readonly name = 'BackupUnusable';
}

/** Why a trial restore failed, as reason of a condition and as a sentence for the user. */
export interface TrialFailure {
  readonly reason: ConditionReason<'EtcdBackupVerified'>;
  readonly message: string;
}

/** Whether the backup, the store, its Secrets or anything else is at fault. */
export function trialFailure(error: unknown): TrialFailure {
  const message = messageOf(error);
  if (error instanceof BackupUnusable) return { reason: 'BackupUnusable', message };
  if (error instanceof InvalidConfiguration) return { reason: 'BackupSecretInvalid', message };
  return { reason: error instanceof StoreError ? 'StoreUnavailable' : 'VerificationFailed', message };
}
