import type { ControlPlane } from './control-plane.ts';
import type { Progress } from './follow.ts';

/** What was known when a backup was asked for. */
export interface RequestedBackup {
  readonly request: string;
  /** `status.etcd.backup.lastAttemptTime` before; the clocks here and there may differ, so that times are not compared. */
  readonly lastAttemptTime: string | undefined;
}

/**
 * How far a requested backup is. One attempt that fails is the end for whoever waits, though the provider tries again.
 */
export function backupProgress({ object }: ControlPlane, requested: RequestedBackup): Progress {
  const { status } = object;
  const known = status?.etcd?.backup;
  if (known?.lastRequest === requested.request) return { kind: 'done', message: known.lastBackup ?? 'stored' };

  const condition = status?.conditions?.find(({ type }) => type === 'EtcdBackupReady');
  const message = condition?.message ?? '';
  const wasTried = known?.lastAttemptTime !== requested.lastAttemptTime;
  if (condition?.status === 'False' && wasTried && failures.includes(condition.reason)) {
    return { kind: 'failed', message: `no backup was taken: ${message}` };
  }
  return { kind: 'running', message: message || 'waiting for the provider' };
}

/** Reasons of EtcdBackupReady that end an attempt. */
const failures = ['BackupSecretInvalid', 'StoreUnavailable', 'BackupFailed', 'ReconcileFailed', 'InvalidConfiguration'];
