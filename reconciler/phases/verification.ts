import type { Backup } from '../../constructs/api/backup-spec.ts';
import type { ConditionReason } from '../../constructs/api/conditions.ts';
import type { Condition } from '../../constructs/api/status.ts';
import type { WorkState } from '../tasks/background-work.ts';
import { backOffMs } from '../backup/decide-backup.ts';
import { holdTrial, removeTrialPods, withBackups } from '../backup/verify/run-verification.ts';
import { backupId } from '../backup/names.ts';
import { BackupUnusable, trialFailure } from '../backup/verify/failure.ts';
import { surveyTrials, type TrialSurvey, verificationRules } from '../backup/verify/survey.ts';
import type { Verification } from '../backup/verification-settings.ts';
import { decideVerification, type VerificationDecision } from '../backup/verify/decide.ts';
import { messageOf } from '../kube/error-message.ts';
import { degraded, done, InvalidConfiguration, type Outcome, type StatusReport } from '../engine/outcome.ts';
import type { Phase, Scope } from './scope.ts';
import { workName as backupName } from './backup.ts';
import { etcdCertificates } from './certificates.ts';

/** Names of the work beside the queue: to look into the store, and to hold a trial. */
const surveyName = 'verification-survey';
const trialName = 'verification';

/**
 * Restores backups for a trial. Nobody waits for it, and what fails here shows here alone. What was found out is in the
 * store; a process that is killed begins the trial anew, and removes the pod it finds.
 */
export const verification: Phase = {
  condition: 'EtcdBackupVerified',
  needs: [etcdCertificates],
  async run(scope): Promise<Outcome> {
    const spec = scope.cluster.spec.etcd.backup;
    const trial = scope.work.state<Verification>(trialName);
    if (!spec || spec.verify.disabled) {
      for (const name of [surveyName, trialName]) scope.work.cancel(name);
      await removeTrialPods(scope);
      return done();
    }
    if (trial.kind === 'running')
      return underWay(scope, `backup ${trial.basis} is restored for a trial: ${trial.progress}`);
    if ((await removeTrialPods(scope)) > 0) return underWay(scope, 'the pod of a trial is being removed');

    const survey = lookIntoStore(scope, spec, trial);
    switch (survey.kind) {
      case 'idle':
      case 'running':
        return asBefore(scope, 'looking for backups that are to be restored for a trial');
      case 'failed':
        // No trial is known to be due: whether backups can be taken tells another condition.
        return underWay(scope, `the bucket cannot be looked into: ${messageOf(survey.error)}`, retryTime(survey));
      case 'done':
        return hold(scope, spec, trial, survey.result);
    }
  },
};

/** Once per process, after each backup and after each trial: nothing else changes what is decided here. */
function lookIntoStore(scope: Scope, spec: Backup, trial: WorkState): WorkState<TrialSurvey> {
  const { work, now } = scope;
  const taken = work.state(backupName);
  const basis = JSON.stringify([spec, [taken, trial].map((state) => (state.kind === 'done' ? state.at : null))]);
  const survey = work.state<TrialSurvey>(surveyName);
  if (survey.kind === 'running') return survey;
  if (survey.kind !== 'idle' && survey.basis === basis) {
    const isKnown = survey.kind === 'done' || retryTime(survey) > now;
    if (isKnown) return survey;
  }
  return work.start(surveyName, basis, ({ signal }) =>
    withBackups(scope, spec, (backups) => surveyTrials(backups, signal)),
  );
}

async function hold(
  scope: Scope,
  spec: Backup,
  trial: WorkState<Verification>,
  { backups, lastVerified }: TrialSurvey,
): Promise<Outcome> {
  const { now, work } = scope;
  const report: StatusReport = lastVerified ? { etcd: { lastVerifiedBackup: lastVerified } } : {};
  const decision = decide(scope, spec, { backups, lastVerified });
  if (decision.kind === 'no-backup')
    return done({}, undefined, { message: 'there is no backup to verify yet', report });
  if (decision.kind === 'rest') {
    const next = decision.next === undefined ? undefined : new Date(decision.next);
    return done({}, next, { message: lastVerified ? `backup ${lastVerified.name} was good` : '', report });
  }

  const basis = backupId(decision.backup);
  if (trial.kind === 'failed' && trial.basis === basis) {
    const { reason, message } = trialFailure(trial.error);
    const text = `backup ${basis}: ${message}`;
    const advice = reason === 'BackupUnusable' ? 'take another one, and look at the store; ' : '';
    const again = retryTime(trial);
    if (now < again) {
      return degraded(reason, `${text}; ${advice}tried again at ${again.toISOString()}`, {}, { again, report });
    }
  }
  work.start(trialName, basis, (context) => holdTrial(scope, spec, decision.backup, context), 'waits');
  return underWay(scope, `backup ${basis} is restored for a trial`, undefined, report);
}

/** @throws InvalidConfiguration for a schedule that cannot be read: only the user can mend it */
function decide(scope: Scope, spec: Backup, { backups, lastVerified }: TrialSurvey): VerificationDecision {
  const { namespace, name } = scope.hostedControlPlane.metadata;
  const lastTrial = lastVerified && Date.parse(lastVerified.time);
  try {
    const situation = { backups, lastTrial, now: scope.now.getTime() };
    return decideVerification(verificationRules(spec, `${namespace}/${name}`), situation);
  } catch (error) {
    throw new InvalidConfiguration('InvalidConfiguration', `etcd.backup.verify: ${messageOf(error)}`);
  }
}

/** A bad backup stays told until another one was good. */
function underWay(scope: Scope, message: string, again?: Date, report?: StatusReport): Outcome {
  if (toldBefore(scope)?.status !== 'False') return done({}, again, { message, report });
  return degraded('Verifying', message, {}, { again, report });
}

/** What is told already, so that a new process does not write the status of every cluster to say that it looks. */
function asBefore(scope: Scope, first: string): Outcome {
  const before = toldBefore(scope);
  if (before?.status !== 'False') return done({}, undefined, { message: before?.message ?? first });
  return degraded(before.reason as ConditionReason<'EtcdBackupVerified'>, before.message, {});
}

function toldBefore({ hostedControlPlane: { status } }: Scope): Condition | undefined {
  return status?.conditions?.find(({ type }) => type === 'EtcdBackupVerified');
}

/** A key that was missing may be there tomorrow; else a bad backup is found bad again, which costs reading all of it. */
const unusableRetryMs = 24 * 60 * 60_000;

/** No older backup is tried silently in the place of a bad one, and a newer one at once. */
function retryTime({ at, error, failures }: Extract<WorkState, { kind: 'failed' }>): Date {
  const delayMs = error instanceof BackupUnusable ? unusableRetryMs : backOffMs(error, failures);
  return new Date(at.getTime() + delayMs);
}
