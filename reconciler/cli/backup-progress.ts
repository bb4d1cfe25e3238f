import type { ControlPlane } from './control-plane.ts';
import type { Progress } from './follow.ts';

/** The state when the backup was requested. */
export interface RequestedBackup {
  readonly request: string;
  /**
   * `status.etcd.backup.lastAttemptTime` before the request. Times are not compared, because the clocks of operator and
   * client may differ.
   */
  readonly lastAttemptTime: string | undefined;
}

/** The progress of a requested backup. A failed attempt ends the wait, although the operator retries. */
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
  return { kind: 'running', message: message || 'waiting for the operator' };
}

/** Reasons of EtcdBackupReady that end an attempt. */
const failures = ['BackupSecretInvalid', 'StoreUnavailable', 'BackupFailed', 'ReconcileFailed', 'InvalidConfiguration'];
