import type { HostedControlPlaneObject } from '../clusters/management/hosted-control-plane-object.ts';
import { takenFor } from '../../constructs/api/etcd-status.ts';
import { Backup } from '../../constructs/api/backup-spec.ts';
import { StatefulSet } from '../../constructs/api/resources.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import type { Work, WorkState } from '../engine/tasks/background-work.ts';
import { readyMembers } from '../etcd/access.ts';
import { isFormationRecorded } from '../etcd/formation.ts';
import { InvalidConfiguration } from '../engine/outcome.ts';
import { messageOf } from '../kube/error-message.ts';
import { attemptFor, type BackupSubject } from './attempt.ts';
import { isHibernation } from '../run-state/run-state.ts';
import { type BackupCause, deletionCause } from './causes.ts';
import { incarnationOf } from './ownership.ts';
import { backOffMs } from './plan-backup.ts';
import { StoreError } from './store/store-error.ts';
import { type BackupResult, takeBackup } from './take-backup.ts';

/** What a deletion waits for, as a sentence, and when to reconcile again if no event triggers it. */
export interface AwaitedFinalBackup {
  readonly reason: 'WaitingForFinalBackup' | 'FinalBackupImpossible';
  readonly message: string;
  readonly afterMs?: number | undefined;
  /** No member is ready. */
  readonly isWithoutMember?: boolean;
}

/** A control plane that is being deleted. */
interface FinalBackupOptions extends Omit<BackupSubject, 'hostedControlPlane' | 'incarnation' | 'kubernetesVersion'> {
  /** The object as the API returns it, because a deletion needs no valid spec. */
  readonly object: HostedControlPlaneObject;
  readonly work: Work;
  readonly now: Date;
  /** Whether the namespace is being deleted, with all pods. */
  readonly isNamespaceEnding: boolean;
  /** Called when the deletion continues without a backup that the spec requests. */
  readonly onLost: () => void;
}

const workName = 'final-backup';
const impossible =
  'etcd was deleted before its final backup was taken, and the store has none: to keep the volumes for a HostedControlPlane of the same name, set etcd.volumeRetention: Retain; to give them up, leave it; then set etcd.backup.beforeDeletion: false';
const skip = 'set etcd.backup.beforeDeletion: false to continue without it';

/**
 * The final backup of a control plane that is being deleted, if the spec requests one. Returns what the deletion waits
 * for; undefined if etcd may be deleted. Call it only after the last write to etcd. A backup that a killed process has
 * taken counts.
 */
export function finalBackup(options: FinalBackupOptions): AwaitedFinalBackup | undefined {
  const { object, namespace, cluster, reader, work, now } = options;
  const parsed = Backup.safeParse(object.spec?.etcd?.backup);
  const etcd = reader.get(StatefulSet, namesOf(cluster).etcd);
  if (!parsed.success || !parsed.data.beforeDeletion || isHibernated(object)) return undefined;
  // There is nothing to back up.
  if (!etcd && !wasFormed(object)) return undefined;
  const spec = parsed.data;
  const isGone = !etcd || etcd.metadata.deletionTimestamp !== undefined;
  const cause = deletionCause(object.metadata.uid ?? '');
  const inputsKey = JSON.stringify([cause, spec]);

  const decision = planFinalBackup(work.state<BackupResult>(workName), {
    inputsKey,
    cause,
    now: now.getTime(),
    hasMember: readyMembers({ name: cluster, namespace }, reader).length > 0,
    isGone,
  });
  if (options.isNamespaceEnding && isUnavailable(decision, isGone)) {
    options.onLost();
    return undefined;
  }

  if (decision !== 'start') return decision === 'proceed' ? undefined : decision;
  const subject = {
    ...options,
    hostedControlPlane: object,
    incarnation: incarnationOf(object),
    kubernetesVersion: object.spec?.version ?? 'unknown',
  };
  const reason = { schedule: undefined, causes: [cause], lastKnown: undefined };
  work.start(workName, inputsKey, (context) => takeBackup(attemptFor(subject, spec, reason), context), 'upload');
  return awaited(isGone ? 'the operator looks in the store for the final backup' : 'the final backup has started');
}

function awaited(message: string, afterMs?: number): AwaitedFinalBackup {
  return { reason: 'WaitingForFinalBackup', message, ...(afterMs === undefined ? {} : { afterMs }) };
}

function wasFormed({ metadata, status }: HostedControlPlaneObject): boolean {
  return isFormationRecorded(metadata) || status?.etcd?.clusterID !== undefined;
}

/** Whether no member will ever answer: nothing starts in a namespace that is being deleted. */
function isUnavailable(decision: FinalBackupDecision, isGone: boolean): boolean {
  if (typeof decision === 'string') return false;
  return decision.reason === 'FinalBackupImpossible' || decision.isWithoutMember === true || isGone;
}

/** Whether etcd has stopped after a backup of all its data: nothing was written since, and nothing can be read. */
function isHibernated({ status }: HostedControlPlaneObject): boolean {
  const awake = status?.conditions?.find(({ type }) => type === 'Awake');
  return awake?.reason === 'Hibernated' && takenFor(status?.etcd?.backup).some(isHibernation);
}

interface FinalBackupInput {
  readonly inputsKey: string;
  readonly cause: BackupCause;
  readonly now: number;
  readonly hasMember: boolean;
  /** etcd was deleted: only a backup that exists already lets the deletion continue. */
  readonly isGone: boolean;
}

type FinalBackupDecision = 'proceed' | 'start' | AwaitedFinalBackup;

export function planFinalBackup(
  state: WorkState<BackupResult>,
  { inputsKey, cause, now, hasMember, isGone }: FinalBackupInput,
): FinalBackupDecision {
  if (state.kind === 'running') return awaited(`the final backup is in progress: ${state.progress}`);
  if (state.kind === 'done' && state.result.satisfied.includes(cause)) return 'proceed';
  if (state.kind === 'failed' && state.inputsKey === inputsKey) {
    const afterMs = state.at.getTime() + backOffMs(state.error, state.failures) - now;
    if (afterMs > 0) {
      const mayExist = !isGone || state.error instanceof StoreError || state.error instanceof InvalidConfiguration;
      if (mayExist) return awaited(`the final backup failed: ${messageOf(state.error)}; ${skip}`, afterMs);
      return { reason: 'FinalBackupImpossible', message: impossible, afterMs };
    }
  }
  if (hasMember || isGone) return 'start';
  return { ...awaited(`the final backup waits until an etcd member is ready; ${skip}`), isWithoutMember: true };
}
