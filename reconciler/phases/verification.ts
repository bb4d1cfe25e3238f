import type { Backup } from '../../constructs/api/backup-spec.ts';
import type { ConditionReason } from '../../constructs/api/conditions.ts';
import type { Condition } from '../../constructs/api/status.ts';
import type { WorkState } from '../tasks/background-work.ts';
import { type Failure, findTask, retryTime } from '../tasks/task.ts';
import { backOffMs } from '../backup/plan-backup.ts';
import { runVerification, removeVerificationPods, withBackups } from '../backup/verify/run-verification.ts';
import { backupId } from '../backup/names.ts';
import { BackupUnusable, verificationFailure } from '../backup/verify/failure.ts';
import { listVerifications, type VerificationInventory, verificationRules } from '../backup/verify/survey.ts';
import type { Verification } from '../backup/verification-settings.ts';
import { planVerification, type VerificationDecision } from '../backup/verify/plan.ts';
import { messageOf } from '../kube/error-message.ts';
import { degraded, done, InvalidConfiguration, type Outcome, type StatusReport } from '../engine/outcome.ts';
import { phase, type Scope } from './scope.ts';
import { workName as backupName } from './backup.ts';
import { etcdCertificates } from './certificates.ts';

/** Names of the work beside the queue: to look into the store, and to hold a trial. */
const inventoryName = 'verification-survey';
const verificationName = 'verification';

/**
 * Restores backups for a trial. Nobody waits for it, and what fails here shows here alone. What was found out is in the
 * store; a process that is killed begins the trial anew, and removes the pod it finds.
 */
export const verification = phase({
  condition: 'EtcdBackupVerified',
  needs: [etcdCertificates],
  async run(scope): Promise<Outcome> {
    const spec = scope.cluster.spec.etcd.backup;
    const task = scope.work.state<Verification>(verificationName);
    if (!spec || spec.verify.disabled) {
      for (const name of [inventoryName, verificationName]) scope.work.cancel(name);
      await removeVerificationPods(scope);
      return done();
    }
    if (task.kind === 'running')
      return inProgress(scope, `backup ${task.inputsKey} is restored for a trial: ${task.progress}`);
    if ((await removeVerificationPods(scope)) > 0) return inProgress(scope, 'the pod of a trial is being removed');

    const inventory = lookIntoStore(scope, spec, task);
    switch (inventory.kind) {
      case 'idle':
      case 'running':
        return asBefore(scope, 'looking for backups that are to be restored for a trial');
      case 'failed':
        // No trial is known to be due: whether backups can be taken tells another condition.
        return inProgress(
          scope,
          `the bucket cannot be looked into: ${messageOf(inventory.error)}`,
          nextAttempt(inventory),
        );
      case 'done':
        return hold(scope, spec, task, inventory.result);
    }
  },
});

/** Once per process, after each backup and after each trial: nothing else changes what is decided here. */
function lookIntoStore(scope: Scope, spec: Backup, task: WorkState): WorkState<VerificationInventory> {
  const { work, now } = scope;
  const taken = work.state(backupName);
  const inputsKey = JSON.stringify([spec, [taken, task].map((state) => (state.kind === 'done' ? state.at : null))]);
  const inventory = findTask<VerificationInventory>(work, now, { name: inventoryName, inputsKey, retryMs });
  if (inventory.isDue) {
    inventory.start(({ signal }) => withBackups(scope, spec, (backups) => listVerifications(backups, signal)));
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
    return done({}, next, { message: lastVerified ? `backup ${lastVerified.name} was good` : '', report });
  }

  const inputsKey = backupId(decision.backup);
  if (task.kind === 'failed' && task.inputsKey === inputsKey) {
    const { reason, message } = verificationFailure(task.error);
    const text = `backup ${inputsKey}: ${message}`;
    const advice = reason === 'BackupUnusable' ? 'take another one, and look at the store; ' : '';
    const requeueAt = nextAttempt(task);
    if (now < requeueAt) {
      return degraded(reason, `${text}; ${advice}tried again at ${requeueAt.toISOString()}`, {}, { requeueAt, report });
    }
  }
  work.start(verificationName, inputsKey, (context) => runVerification(scope, spec, decision.backup, context), 'waits');
  return inProgress(scope, `backup ${inputsKey} is restored for a trial`, undefined, report);
}

/** @throws InvalidConfiguration for a schedule that cannot be read: only the user can mend it */
function decide(scope: Scope, spec: Backup, { backups, lastVerified }: VerificationInventory): VerificationDecision {
  const { namespace, name } = scope.hostedControlPlane.metadata;
  const lastVerification = lastVerified && Date.parse(lastVerified.time);
  try {
    const situation = { backups, lastVerification, now: scope.now.getTime() };
    return planVerification(verificationRules(spec, `${namespace}/${name}`), situation);
  } catch (error) {
    throw new InvalidConfiguration('InvalidConfiguration', `etcd.backup.verify: ${messageOf(error)}`);
  }
}

/** A bad backup stays told until another one was good. */
function inProgress(scope: Scope, message: string, requeueAt?: Date, report?: StatusReport): Outcome {
  if (reportedBefore(scope)?.status !== 'False') return done({}, requeueAt, { message, report });
  return degraded('Verifying', message, {}, { requeueAt, report });
}

/** What is told already, so that a new process does not write the status of every cluster to say that it looks. */
function asBefore(scope: Scope, first: string): Outcome {
  const before = reportedBefore(scope);
  if (before?.status !== 'False') return done({}, undefined, { message: before?.message ?? first });
  return degraded(before.reason as ConditionReason<'EtcdBackupVerified'>, before.message, {});
}

function reportedBefore({ hostedControlPlane: { status } }: Scope): Condition | undefined {
  return status?.conditions?.find(({ type }) => type === 'EtcdBackupVerified');
}

/** A key that was missing may be there tomorrow; else a bad backup is found bad again, which costs reading all of it. */
const unusableRetryMs = 24 * 60 * 60_000;

/** No older backup is tried silently in the place of a bad one, and a newer one at once. */
function retryMs({ error, failures }: Failure): number {
  return error instanceof BackupUnusable ? unusableRetryMs : backOffMs(error, failures);
}

function nextAttempt(failure: Failure): Date {
  return new Date(retryTime(failure, retryMs));
}
