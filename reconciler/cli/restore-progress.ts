import type { ControlPlane } from './control-plane.ts';
import type { Progress } from './follow.ts';

/** The state when the restore was requested. */
export interface RequestedRestore {
  /** Generation of the spec that requests it. */
  readonly generation: number;
  /** `status.etcd.restore.request` before the request. */
  readonly previous: string | undefined;
}

/** The progress of a requested restore. */
export function restoreProgress({ object }: ControlPlane, { generation, previous }: RequestedRestore): Progress {
  const { status } = object;
  if ((status?.observedGeneration ?? 0) < generation) return { kind: 'running', message: 'waiting for the operator' };

  const known = status?.etcd?.restore;
  const isOurs = known !== undefined && known.request !== previous;
  if (isOurs && known.completionTime !== undefined) {
    return {
      kind: 'done',
      message: `${known.backup ?? 'backup'} restored to revision ${known.restoredTo ?? 'unknown'}`,
    };
  }

  const condition = status?.conditions?.find(({ type }) => type === 'EtcdRestoreReady');
  const message = condition?.message ?? '';
  if (condition?.status === 'False' && refusals.includes(condition.reason)) {
    return { kind: 'failed', message: `nothing was restored: ${message}` };
  }
  return {
    kind: 'running',
    message: [isOurs ? known.step : undefined, message].filter(Boolean).join(': ') || 'starting',
  };
}

/** Reasons of EtcdRestoreReady that only a user can resolve. */
const refusals = ['BackupNotFound', 'BackupUnusable', 'BackupSecretInvalid', 'InvalidConfiguration'];
