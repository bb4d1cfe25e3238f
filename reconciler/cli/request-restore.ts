import type { Restore } from '../../constructs/api/restore-spec.ts';
import type { BackupOwner } from '../../constructs/cluster/backup-names.ts';
import { type Session, UsageError } from './command.ts';
import { changeControlPlane, type ControlPlane } from './control-plane.ts';
import type { Progress } from './follow.ts';

/** What replaces the data of a control plane. */
interface RequestedBackup {
  /** Its name: exactly this backup is restored, even if a newer one is stored meanwhile. */
  readonly backup: string;
  /** Owner of the backup; the cluster itself when unset. */
  readonly from?: BackupOwner | undefined;
  /** The version of Kubernetes from then on; unchanged when unset. */
  readonly version?: string | undefined;
}

/** Requests a restore in one write. @returns the generation of the spec that requests it */
export async function requestRestore(
  session: Session,
  { object }: ControlPlane,
  { backup, from, version }: RequestedBackup,
): Promise<number> {
  const restore = {
    backup,
    latest: null,
    before: null,
    from: from === undefined ? null : { ...from, identity: null },
    request: new Date(session.now()).toISOString(),
  } satisfies Record<keyof Restore, unknown>;
  const patch = { spec: { ...(version === undefined ? {} : { version }), etcd: { restore } } };
  return (await changeControlPlane(session, object, patch)).metadata.generation ?? 0;
}

/**
 * Resolves when the user has accepted the loss.
 * @param isGiven by an option
 * @throws when the user refuses, and UsageError when there is no terminal to ask at
 */
export async function confirmLoss({ terminal }: Session, question: string, isGiven: boolean): Promise<void> {
  const agreed = isGiven || (await terminal.confirm(question));
  if (agreed === undefined)
    throw new UsageError('standard input is not a terminal, so the loss cannot be confirmed: add --yes');
  if (!agreed) throw new Error('not confirmed, nothing was restored');
}

/** The state when the restore was requested. */
interface RequestedRestore {
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
  const isRequested = known !== undefined && known.request !== previous;
  if (isRequested && known.completionTime !== undefined) {
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
    message: [isRequested ? known.step : undefined, message].filter(Boolean).join(': ') || 'starting',
  };
}

/** Reasons of EtcdRestoreReady that only a user can resolve. */
const refusals = ['BackupNotFound', 'BackupUnusable', 'BackupSecretInvalid', 'InvalidConfiguration'];
