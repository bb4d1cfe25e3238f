import type { Backup } from '../../constructs/api/backup-spec.ts';
import { backupAnnotation } from '../../constructs/api/group.ts';
import { kubernetesVersion } from '../../constructs/cluster/versions.ts';
import { attemptFor, type BackupSubject } from '../backup/attempt.ts';
import { takenFor } from '../../constructs/api/etcd-status.ts';
import { planBackup } from '../backup/plan-backup.ts';
import { type BackupFailure, backupFailure, failureReasons } from '../backup/failure.ts';
import { waitingForTurn, type WorkState } from '../engine/tasks/background-work.ts';
import { backupReport, knownBackups, newestKnown, openCauses } from '../backup/known-backups.ts';
import { incarnationOf } from '../backup/ownership.ts';
import { nextBackupTime, type Schedule } from '../backup/schedule.ts';
import { storeCheck, type StoreCheck, storeCheckWork } from '../backup/store/store-check.ts';
import { type BackupResult, takeBackup } from '../backup/take-backup.ts';
import { nextHibernationStep } from '../run-state/observe-hibernation.ts';
import { isPrepared } from '../run-state/move-record.ts';
import { minorChange } from '../desired-state/upgrade/version-change.ts';
import { readyMembers } from '../etcd/access.ts';
import { messageOf } from '../kube/error-message.ts';
import { degraded, done, InvalidConfiguration, notRequested, type Outcome, wait } from '../engine/outcome.ts';
import type { StatusReport } from '../engine/status-report.ts';
import { phase, type Scope } from './scope.ts';
import { etcdCertificates } from './certificates.ts';

/** Name of the background task. */
export const workName = 'backup';

/**
 * Takes backups when they are due or requested. No other phase waits for it, and a failure affects only its own
 * condition.
 */
export const backup = phase({
  condition: 'EtcdBackupReady',
  needs: [etcdCertificates],
  async run(scope): Promise<Outcome> {
    const { cluster, hostedControlPlane, work } = scope;
    const spec = cluster.spec.etcd.backup;
    if (!spec) {
      for (const name of [workName, storeCheckWork]) work.cancel(name);
      const isStale = hostedControlPlane.status?.etcdNextBackupTime !== undefined;
      return notRequested(isStale ? { etcdNextBackupTime: undefined } : undefined);
    }
    const then = resumption(scope);
    return then === undefined ? run(scope, spec) : done({}, undefined, { message: `backups continue ${then}` });
  },
});

/** When backups continue that wait for the end of a stop; undefined while they are taken. */
function resumption(scope: Scope): string | undefined {
  switch (scope.runState.because) {
    case 'restore':
      // Members stop and start, and the data that would be backed up is about to be replaced.
      return 'after the restore';
    case 'move':
      // Nothing changes any more, and retention must not delete the backup with the data that move.
      return isPrepared(scope.hostedControlPlane.metadata) ? 'after the move' : undefined;
    case 'hibernation':
      return ['stopMembers', 'asleep'].includes(nextHibernationStep(scope).kind)
        ? 'when the control plane wakes up'
        : undefined;
    case undefined:
      return undefined;
  }
}

async function run(scope: Scope, spec: Backup): Promise<Outcome> {
  const { cluster, hostedControlPlane, now, work, reader } = scope;
  const schedule = { expression: spec.schedule, timeZone: spec.timeZone, identity: identityOf(scope) };
  const state = work.state<BackupResult>(workName);
  const asking = {
    request: hostedControlPlane.metadata.annotations?.[backupAnnotation],
    changes: [...(spec.beforeUpgrade ? pendingChanges(scope) : []), ...Object.values(scope.runState.backups)],
  };
  const known = knownBackups(hostedControlPlane.status?.etcd?.backup, asking, state);
  const causes = openCauses(asking, known);

  const lastKnown = newestKnown(known);
  const nextTime = nextTimeOf(schedule, now.getTime());
  const report = backupReport(known, nextTime);
  const decision = planBackup({
    schedule,
    now: now.getTime(),
    lastBackup: lastKnown?.time,
    createdAt: createdAt(scope),
    causes,
    settings: spec,
    work: state,
    isClockWrong: scope.clockFault !== undefined,
    hasMember: readyMembers(cluster, reader).length > 0,
    hasContent: hostedControlPlane.status?.initialization?.controlPlaneInitialized ?? false,
  });

  switch (decision.kind) {
    case 'start':
      work.start(
        workName,
        decision.inputsKey,
        (context) => takeBackup(attemptFor(subjectOf(scope), spec, { schedule, causes, lastKnown }), context),
        'upload',
      );
      return inProgress(scope, report, 'a backup has started');
    case 'running': {
      const { progress, overdueAt } = decision;
      const isOverdue = overdueAt !== undefined && overdueAt <= now.getTime();
      if (isOverdue && !failedBefore(scope)) return degraded('BackupOverdue', overdue(progress), { report });
      return inProgress(
        scope,
        report,
        progress,
        overdueAt === undefined || isOverdue ? undefined : new Date(overdueAt),
      );
    }
    case 'waitForContent': {
      const refusal = refusalOf(scope, storeCheck(scope, spec));
      const requeueAt = new Date(now.getTime() + contentMs);
      if (refusal) return degraded(refusal.reason, refusal.message, { requeueAt, report });
      return done({}, requeueAt, { message: 'the operator takes the first backup once workers can join', report });
    }
    case 'waitForClock':
      return degraded('ClockWrong', `scheduled backups wait until the clocks agree: ${scope.clockFault}`, { report });
    case 'waitForMembers':
      return wait(
        'WaitingForMembers',
        'a backup is due, but no etcd member is ready: see the condition EtcdClusterReady',
        { report },
      );
    case 'backOff': {
      const { reason, message } = backupFailure(decision.error);
      const requeueAt = new Date(decision.retryTime);
      // Without the time of the next attempt, because each one would write the status.
      return degraded(reason, `${message}; the operator tries again at least once an hour`, { requeueAt, report });
    }
    case 'idle': {
      const fault = state.kind === 'done' ? state.result.retentionFault : undefined;
      const shared = sharedFolder(scope, state);
      const isNews = takenFor(known).length !== takenFor(hostedControlPlane.status?.etcd?.backup).length;
      // Phases that wait for the backup read it from the status, which this reconcile is about to write.
      const check = storeCheck(scope, spec);
      const requeueAt = isNews ? now : earlier(new Date(decision.nextTime), check);
      const refusal = refusalOf(scope, check);
      if (refusal) return degraded(refusal.reason, refusal.message, { requeueAt, report });
      if (shared !== undefined) return degraded('BackupFolderShared', shared, { requeueAt, report });
      if (fault)
        return degraded('StoreUnavailable', `the operator cannot delete old backups: ${fault}`, { requeueAt, report });
      return done({}, requeueAt, { message: spec.encryption ? '' : withoutRecoveryBundle, report });
    }
  }
}

/** What the condition says of a store that would refuse a backup; while a check runs, that of the one before. */
function refusalOf(scope: Scope, check: StoreCheck): BackupFailure | undefined {
  switch (check.kind) {
    case 'passed':
      return undefined;
    case 'refused':
      // Without the time of the next check, because each one would write the status.
      return { ...check.failure, message: `${check.failure.message}; the operator checks again at least once an hour` };
    case 'running':
      return reportedBefore(scope, failureReasons);
  }
}

function earlier(requeueAt: Date, check: StoreCheck): Date {
  return check.kind !== 'running' && check.nextTime < requeueAt ? check.nextTime : requeueAt;
}

/** The message about another writer, which a new process repeats until the next backup looks again. */
function sharedFolder(scope: Scope, state: WorkState<BackupResult>): string | undefined {
  if (state.kind !== 'done') return reportedBefore(scope, ['BackupFolderShared'])?.message;
  const { foreignWriter } = state.result;
  if (!foreignWriter) return undefined;
  const { name, owner } = foreignWriter;
  const { cluster } = scope;
  const who =
    owner === undefined ? 'a control plane of an earlier release' : `the HostedControlPlane with uid ${owner}`;
  return `another control plane writes backups of ${cluster.namespace}/${cluster.name} into the same bucket: ${name} is of ${who}; this one counts and deletes only its own, and checks again with its next backup: give one of them another bucket or prefix, and delete its backups from this one`;
}

/** Only the status shows that workers can join, and no event follows. */
const contentMs = 15_000;

const withoutRecoveryBundle =
  'backups do not contain the CAs and keys of the cluster, so that it cannot be rebuilt elsewhere: set etcd.backup.encryption to include them';

/** A failure is reported until an attempt succeeds. Otherwise the condition would change between any two attempts. */
function inProgress(scope: Scope, report: StatusReport, message: string, requeueAt?: Date): Outcome {
  const before = failedBefore(scope) ?? reportedBefore(scope, ['BackupOverdue']);
  return before ? degraded(before.reason, before.message, { report }) : done({}, requeueAt, { message, report });
}

function failedBefore(scope: Scope): BackupFailure | undefined {
  return reportedBefore(scope, [...failureReasons, 'BackupFolderShared']);
}

/** Without how far it is, because each report would write the status. */
function overdue(progress: string): string {
  const state =
    progress === waitingForTurn ? 'waits for its turn among the tasks of other namespaces' : 'is still under way';
  return `a backup has been due for a whole period of etcd.backup.schedule, and ${state}: check the store and its speed, and the number of control planes whose backups are due at the same time`;
}

function createdAt({ hostedControlPlane }: Scope): number | undefined {
  const { creationTimestamp } = hostedControlPlane.metadata;
  return creationTimestamp === undefined ? undefined : Date.parse(creationTimestamp);
}

/** The problem that the status has, if its reason is one of these. */
function reportedBefore({ hostedControlPlane }: Scope, reasons: readonly string[]): BackupFailure | undefined {
  const before = hostedControlPlane.status?.conditions?.find(({ type }) => type === 'EtcdBackupReady');
  if (before?.status !== 'False' || !reasons.includes(before.reason)) return undefined;
  return { reason: before.reason as BackupFailure['reason'], message: before.message };
}

/**
 * Namespace and name of the HostedControlPlane, which determine the time of `@daily` and its like, as in the reference provider.
 */
function identityOf({ hostedControlPlane: { metadata } }: Scope): string {
  return `${metadata.namespace}/${metadata.name}`;
}

function pendingChanges(scope: Scope): string[] {
  return (['Kubernetes', 'etcd'] as const).flatMap((what) => minorChange(what, scope) ?? []);
}

/** @throws InvalidConfiguration for an invalid schedule, which only the user can correct */
function nextTimeOf(schedule: Schedule, after: number): number {
  try {
    return nextBackupTime(schedule, after);
  } catch (error) {
    throw new InvalidConfiguration('InvalidConfiguration', `etcd.backup: ${messageOf(error)}`);
  }
}

function subjectOf({
  cluster,
  hostedControlPlane,
  clusterObject,
  reader,
  openEtcd,
  clock,
  storeReader,
}: Scope): BackupSubject {
  return {
    namespace: cluster.namespace,
    incarnation: incarnationOf(hostedControlPlane),
    cluster: cluster.name,
    kubernetesVersion: kubernetesVersion(cluster.spec.version),
    hostedControlPlane,
    clusterObject,
    reader,
    openEtcd,
    clock,
    storeReader,
  };
}
