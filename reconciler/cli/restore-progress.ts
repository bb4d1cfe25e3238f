import type { ControlPlane } from './control-plane.ts';
import type { Progress } from './follow.ts';

/** What was known when a restore was asked for. */
export interface RequestedRestore {
  /** Generation of the spec that asks for it. */
  readonly generation: number;
  /** `status.etcd.restore.request` before. */
  readonly previous: string | undefined;
}

/** How far a requested restore is. */
export function restoreProgress({ object }: ControlPlane, { generation, previous }: RequestedRestore): Progress {
  const { status } = object;
  if ((status?.observedGeneration ?? 0) < generation) return { kind: 'running', message: 'waiting for the provider' };

  const known = status?.etcd?.restore;
  const isOurs = known !== undefined && known.request !== previous;
  if (isOurs && known.completionTime !== undefined) {
    return {
      kind: 'done',
      message: `${known.backup ?? 'backup'} restored, to revision ${known.restoredTo ?? 'unknown'}`,
    };
  }

  const condition = status?.conditions?.find(({ type }) => type === 'EtcdRestoreReady');
  const message = condition?.message ?? '';
  if (condition?.status === 'False' && refusals.includes(condition.reason)) {
    return { kind: 'failed', message: `nothing was restored: ${message}` };
  }
  return {
    kind: 'running',
    message: [isOurs ? known.step : undefined, message].filter(Boolean).join(': ') || 'begins',
  };
}

/** Reasons of EtcdRestoreReady that only a person can mend. */
const refusals = ['BackupNotFound', 'BackupUnusable', 'BackupSecretInvalid', 'InvalidConfiguration'];
