import type { StatefulSetObject } from '../../imports/kubernetes.ts';
import { statefulSetReadiness } from '../kube/readiness.ts';
import type { CurrentReport } from './loop.ts';
import { isBookkeeping } from './report.ts';
import type { EtcdStep } from './steps.ts';

/** How far an etcd cluster is from its desired state. */
type EtcdProgress =
  | { readonly isDone: true }
  | {
      readonly isDone: false;
      readonly reason: 'WaitingForMembers' | 'ChangingMembers' | 'RollingOut' | 'NotObserved';
      /** Part of a sentence: which member joins, is removed or is missing. */
      readonly message: string;
    };

/**
 * Whether etcd is in its desired state, according to its members if they could be queried, and to the pods of its
 * StatefulSet.
 */
export function progressOf(set: StatefulSetObject | undefined, report: CurrentReport | undefined): EtcdProgress {
  const readiness = statefulSetReadiness(set);
  const pods: EtcdProgress = readiness.ready ? { isDone: true } : waiting('WaitingForMembers', readiness.message);
  if (!report) return readiness.ready ? waiting('NotObserved', 'the operator has not queried the members yet') : pods;
  if (report.observation.membership === 'unknown' && !pods.isDone) return pods;
  if (!report.isCurrent) return waiting('WaitingForMembers', 'the operator is processing the latest change');
  const { decision, observation, problem } = report;
  const failure = problem === undefined ? '' : `, which failed: ${problem}`;
  switch (decision.kind) {
    case 'settled':
      return pods;
    case 'wait':
      return waiting(isChanging(report) ? 'ChangingMembers' : 'WaitingForMembers', decision.message);
    case 'act':
      if (observation.membership === 'confirmed' && isBookkeeping(decision.step) && problem === undefined) return pods;
      // Upkeep stops one member for a short time. No phase waits for it.
      if (decision.step.kind === 'defragment' && observation.alarms.length === 0) return pods;
      return waiting(reasonFor(decision.step), `${describe(decision.step)}${failure}`);
  }
}

function waiting(reason: (EtcdProgress & { isDone: false })['reason'], message: string): EtcdProgress {
  return { isDone: false, reason, message };
}

/** A member is joining or missing. While none answers, it is not known whether one is. */
function isChanging({ observation: { members, membership } }: CurrentReport): boolean {
  if (membership === 'unknown') return false;
  return members.some(({ registration }) => registration === undefined || registration.isLearner);
}

function reasonFor({ kind }: EtcdStep): 'WaitingForMembers' | 'ChangingMembers' | 'RollingOut' {
  switch (kind) {
    case 'addLearner':
    case 'promote':
    case 'remove':
    case 'discardVolume':
      return 'ChangingMembers';
    case 'replacePod':
    case 'moveLeader':
      return 'RollingOut';
    case 'markVolume':
    case 'reserveVolume':
    case 'compact':
    case 'defragment':
    case 'disarm':
      return 'WaitingForMembers';
  }
}

function describe(step: EtcdStep): string {
  switch (step.kind) {
    case 'addLearner':
      return `${step.member} joins the etcd cluster`;
    case 'promote':
      return `${step.member} has all data and is promoted to a voting member`;
    case 'remove':
      return `${step.member} is removed: ${step.because}`;
    case 'discardVolume':
      return `the old volume of ${step.member} is deleted`;
    case 'replacePod':
      return `the pod of ${step.member} is replaced`;
    case 'moveLeader':
      return `leadership moves from ${step.from} to ${step.to}`;
    case 'markVolume':
    case 'reserveVolume':
      return `the volume of ${step.member} is marked`;
    case 'compact':
      return `${step.member} compacts old versions of keys`;
    case 'defragment':
      return `${step.member} is defragmented`;
    case 'disarm':
      return `${step.member} disarms an alarm`;
  }
}
