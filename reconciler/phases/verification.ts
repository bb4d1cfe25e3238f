import type { Backup } from '../../constructs/api/backup-spec.ts';
import type { ConditionReason } from '../../constructs/api/conditions.ts';
import type { Condition } from '../../constructs/api/status.ts';
import type { WorkState } from '../engine/tasks/background-work.ts';
import { type Failure, findTask, retryTime } from '../engine/tasks/task.ts';
import { backOffMs } from '../backup/plan-backup.ts';
import { runVerification } from '../backup/verify/run-verification.ts';
import { removeVerificationPods } from '../backup/verify/verification-pod.ts';
import { ownBackups, withBackups } from '../backup/with-backups.ts';
import { backupId } from '../../constructs/cluster/backup-names.ts';
import { incarnationOf } from '../backup/ownership.ts';
import { BackupUnusable, verificationFailure } from '../backup/failure.ts';
import { listVerifications, type VerificationInventory, verificationRules } from '../backup/verify/inventory.ts';
import type { Verification } from '../backup/verification-result.ts';
import { planVerification, type VerificationDecision } from '../backup/verify/plan-verification.ts';
import { messageOf } from '../kube/error-message.ts';
import { degraded, done, InvalidConfiguration, notRequested, type Outcome } from '../engine/outcome.ts';
import type { StatusReport } from '../engine/status-report.ts';
import { phase, type Scope } from './scope.ts';
import { workName as backupName } from './backup.ts';
import { etcdCertificates } from './certificates.ts';

/** Names of the background tasks that list the store and verify a backup. */
const inventoryName = 'verification-survey';
const verificationName = 'verification';

/**
 * Verifies backups. No other phase waits for it, and a failure affects only its own condition. Results are stored in
 * the bucket. After a restart, the operator removes the pod of an interrupted verification and starts again.
 */
export const verification = phase({
  condition: 'EtcdBackupVerified',
  needs: [etcdCertificates],
  async run(scope): Promise<Outcome> {
    const spec = scope.cluster.spec.etcd.backup;
    const task = scope.work.state<Verification>(verificationName);
    // What holds all data of a control plane that moves is verified in any case.
    if (!spec || (spec.verify.disabled && scope.runState.backups.move === undefined)) {
      for (const name of [inventoryName, verificationName]) scope.work.cancel(name);
      await removeVerificationPods(scope);
      return notRequested();
    }
    if (task.kind === 'running') return inProgress(scope, `verifying backup ${task.inputsKey}: ${task.progress}`);
    if ((await removeVerificationPods(scope)) > 0)
      return inProgress(scope, 'removing the pod of the previous verification');

    const inventory = listBackups(scope, spec, task);
    switch (inventory.kind) {
      case 'idle':
      case 'running':
        return asBefore(scope, 'listing the backups to verify');
      case 'failed':
        // It is not known whether a verification is due. The condition EtcdBackupReady reports whether backups can be
        // taken.
        return inProgress(
          scope,
          `cannot list the backups in the bucket: ${messageOf(inventory.error)}`,
          nextAttempt(inventory),
        );
      case 'done':
        return hold(scope, spec, task, inventory.result);
    }
  },
});

/**
 * Lists the store once per process, after each backup and after each verification. Nothing else changes the decision.
 */
function listBackups(scope: Scope, spec: Backup, task: WorkState): WorkState<VerificationInventory> {
  const { work, now } = scope;
  const taken = work.state(backupName);
  const inputsKey = JSON.stringify([spec, [taken, task].map((state) => (state.kind === 'done' ? state.at : null))]);
  const inventory = findTask<VerificationInventory>(work, now, {
    name: inventoryName,
    inputsKey,
    retryMs,
    turn: 'listing',
  });
  if (inventory.isDue) {
    inventory.start(({ signal }) =>
      withBackups(ownBackups(scope, spec), (backups) =>
        listVerifications(backups, incarnationOf(scope.hostedControlPlane), signal),
      ),
    );
  }
  return inventory.isDue ? work.state(inventoryName) : inventory.state;
}

async function hold(
  scope: Scope,
  spec: Backup,
  task: WorkState<Verification>,
  { backups, lastVerified }: VerificationInventory,
): Promise<Outcome> {
  const { now, work } = scope;
  const report: StatusReport = lastVerified ? { etcd: { lastVerifiedBackup: lastVerified } } : {};
  const decision = decide(scope, spec, { backups, lastVerified });
  if (decision.kind === 'noBackup') return done({}, undefined, { message: 'there is no backup to verify yet', report });
  if (decision.kind === 'idle') {
    const next = decision.next === undefined ? undefined : new Date(decision.next);
    return done({}, next, { message: lastVerified ? `backup ${lastVerified.name} passed verification` : '', report });
  }

  const inputsKey = backupId(decision.backup);
  if (task.kind === 'failed' && task.inputsKey === inputsKey) {
    const { error } = task;
    const { reason, message } = verificationFailure(error);
    const text = `backup ${inputsKey}: ${message}`;
    const advice = reason === 'BackupUnusable' ? 'take another backup and check the store; ' : '';
    const requeueAt = nextAttempt(task);
    if (now < requeueAt) {
      return degraded(
        reason,
        `${text}; ${advice}the operator tries again ${error instanceof BackupUnusable ? 'every day' : 'at least once an hour'}`,
        { requeueAt, report },
      );
    }
  }
  work.start(
    verificationName,
    inputsKey,
    (context) => runVerification(scope, spec, decision.backup, context),
    'verification',
  );
  return inProgress(scope, `verifying backup ${inputsKey}`, undefined, report);
}

/** @throws InvalidConfiguration for an invalid schedule, which only the user can correct */
function decide(scope: Scope, spec: Backup, { backups, lastVerified }: VerificationInventory): VerificationDecision {
  const { namespace, name } = scope.hostedControlPlane.metadata;
  const lastVerification = lastVerified && Date.parse(lastVerified.time);
  try {
    const situation = { backups, lastVerification, now: scope.now.getTime() };
    const asked = verificationRules(spec, `${namespace}/${name}`);
    const rules = scope.clockFault === undefined ? asked : { ...asked, schedule: undefined };
    return planVerification(scope.runState.backups.move === undefined ? rules : { ...rules, every: 1 }, situation);
  } catch (error) {
    throw new InvalidConfiguration('InvalidConfiguration', `etcd.backup.verify: ${messageOf(error)}`);
  }
}

/** An unusable backup is reported until another one has passed verification. */
function inProgress(scope: Scope, message: string, requeueAt?: Date, report?: StatusReport): Outcome {
  const before = reportedBefore(scope);
  if (before?.status !== 'False') return done({}, requeueAt, { message, report });
  // Reason and message stay: otherwise every attempt of an endless number would write the status, and an event.
  return degraded(before.reason as ConditionReason<'EtcdBackupVerified'>, before.message, { requeueAt, report });
}

/**
 * Repeats the reported condition, so that a new process does not write the status of every cluster only because it
 * lists the store.
 */
function asBefore(scope: Scope, first: string): Outcome {
  const before = reportedBefore(scope);
  if (before?.status !== 'False') return done({}, undefined, { message: before?.message ?? first });
  return degraded(before.reason as ConditionReason<'EtcdBackupVerified'>, before.message);
}

function reportedBefore({ hostedControlPlane: { status } }: Scope): Condition | undefined {
  return status?.conditions?.find(({ type }) => type === 'EtcdBackupVerified');
}

/** A missing key may exist later. Otherwise the same result is found again, at the cost of reading the whole backup. */
const unusableRetryMs = 24 * 60 * 60_000;

/** An older backup never replaces an unusable one silently. A newer backup is verified immediately. */
function retryMs({ error, failures }: Failure): number {
  return error instanceof BackupUnusable ? unusableRetryMs : backOffMs(error, failures);
}

function nextAttempt(failure: Failure): Date {
  return new Date(retryTime(failure, retryMs));
}
