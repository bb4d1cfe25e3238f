import { statefulSetReadiness, type StatefulSetObject } from '../kube/readiness.ts';
import type { CurrentReport } from './loop.ts';
import { isBookkeeping } from './report.ts';
import type { EtcdStep } from './steps.ts';

/** How far an etcd cluster is from being as the spec says. */
export type EtcdProgress =
  | { readonly isDone: true }
  | {
      readonly isDone: false;
      readonly reason: 'WaitingForMembers' | 'ChangingMembers' | 'RollingOut';
      /** Half a sentence: who joins, who goes, or what is missing. */
      readonly message: string;
    };

/** Whether etcd is as the spec says: by its members when they could be asked, and by the pods of its StatefulSet. */
export function progressOf(set: StatefulSetObject | undefined, report: CurrentReport | undefined): EtcdProgress {
  const readiness = statefulSetReadiness(set);
  const pods: EtcdProgress = readiness.ready ? { isDone: true } : waiting('WaitingForMembers', readiness.message);
  if (!report) return readiness.ready ? waiting('WaitingForMembers', 'members have not been asked yet') : pods;
  if (report.observation.membership === 'Unknown' && !pods.isDone) return pods;
  if (!report.isCurrent) return waiting('WaitingForMembers', 'the latest change is being looked at');
  const { decision, observation, problem } = report;
  const failure = problem === undefined ? '' : `, which failed: ${problem}`;
  switch (decision.kind) {
    case 'Settled':
      return pods;
    case 'Wait':
      return waiting(isChanging(report) ? 'ChangingMembers' : 'WaitingForMembers', decision.message);
    case 'Act':
      if (observation.membership === 'Confirmed' && isBookkeeping(decision.step) && problem === undefined) return pods;
      // Upkeep takes one member away for a moment; nobody waits for it.
      if (decision.step.kind === 'Defragment' && observation.alarms.length === 0) return pods;
      return waiting(reasonFor(decision.step), `${describe(decision.step)}${failure}`);
  }
}

function waiting(reason: (EtcdProgress & { isDone: false })['reason'], message: string): EtcdProgress {
  return { isDone: false, reason, message };
}

/** Somebody is joining, or is missing. */
function isChanging({ observation: { members } }: CurrentReport): boolean {
  return members.some(({ registration }) => registration === undefined || registration.isLearner);
}

function reasonFor({ kind }: EtcdStep): 'WaitingForMembers' | 'ChangingMembers' | 'RollingOut' {
  switch (kind) {
    case 'AddLearner':
    case 'Promote':
    case 'Remove':
    case 'DiscardVolume':
      return 'ChangingMembers';
    case 'ReplacePod':
    case 'MoveLeader':
      return 'RollingOut';
    case 'MarkVolume':
    case 'ReserveVolume':
    case 'Compact':
    case 'Defragment':
    case 'Disarm':
      return 'WaitingForMembers';
  }
}

function describe(step: EtcdStep): string {
  switch (step.kind) {
    case 'AddLearner':
      return `${step.member} joins`;
    case 'Promote':
      return `${step.member} has all data and gets its vote`;
    case 'Remove':
      return `${step.member} is removed: ${step.because}`;
    case 'DiscardVolume':
      return `the volume that ${step.member} left is deleted`;
    case 'ReplacePod':
      return `${step.member} is replaced`;
    case 'MoveLeader':
      return `${step.to} takes the lead over from ${step.from}`;
    case 'MarkVolume':
    case 'ReserveVolume':
      return `the volume of ${step.member} is marked`;
    case 'Compact':
      return `${step.member} forgets old versions of keys`;
    case 'Defragment':
      return `${step.member} is defragmented`;
    case 'Disarm':
      return `the alarm of ${step.member} is taken back`;
  }
}
