import { type ConditionType, conditions } from '../../../constructs/api/conditions.ts';
import type { Condition } from '../../../constructs/api/status.ts';

/** One event of a control plane, for a user who watches. */
export interface Step {
  /** Whether something is done, or still waited for. */
  readonly isDone: boolean;
  readonly text: string;
}

/** The changes between two states of the conditions: finished steps, and new reasons for waiting. */
export function stepsBetween(before: readonly Condition[], after: readonly Condition[]): Step[] {
  const old = new Map(before.map((condition) => [condition.type, condition]));
  const steps = after.flatMap((condition): Step[] => {
    const { type, status, reason, message } = condition;
    if (!isMilestone(type)) return [];
    const previous = old.get(type);
    if (reason === 'NotRequested') return [];
    if (status === 'True') return previous?.status === 'True' ? [] : [{ isDone: true, text: conditions[type].meaning }];
    if (type === 'Available' || reason === 'WaitingForOtherPhases' || previous?.message === message) return [];
    return [{ isDone: false, text: `waiting: ${message}` }];
  });
  // several may wait for the same
  return [...new Map(steps.map((step) => [step.text, step])).values()];
}

/** The steps that a person waits for, of more than forty conditions. */
const milestones: readonly ConditionType[] = [
  'CACertificatesReady',
  'SyncControlPlaneEndpointReady',
  'EtcdClusterReady',
  'APIServerDeploymentsReady',
  'Available',
  'ControllerManagerReady',
  'SchedulerReady',
  'AdminKubeconfigReady',
  'APIServerReachable',
  'WorkloadSetupReady',
];

function isMilestone(type: string): type is ConditionType {
  return milestones.some((milestone) => milestone === type);
}
