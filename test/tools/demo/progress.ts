import { type ConditionType, conditions, isConditionType } from '../../../constructs/api/conditions.ts';
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
    if (!isStep(type)) return [];
    const previous = old.get(type);
    if (reason === 'NotRequested') return [];
    if (status === 'True') return previous?.status === 'True' ? [] : [{ isDone: true, text: conditions[type].meaning }];
    if (type === 'Available' || reason === 'WaitingForOtherPhases' || previous?.message === message) return [];
    return [{ isDone: false, text: `waiting: ${message}` }];
  });
  // several may wait for the same
  return [...new Map(steps.map((step) => [step.text, step])).values()];
}

/** The steps in order, and the two final conditions. Summaries of steps would repeat everything. */
function isStep(type: string): type is ConditionType {
  return isConditionType(type) && (type === 'Available' || (type.endsWith('Ready') && type !== 'Ready'));
}
