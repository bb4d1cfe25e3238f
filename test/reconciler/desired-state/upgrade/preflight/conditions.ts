import type { ConditionType } from '../../../../../constructs/api/conditions.ts';
import type { Condition } from '../../../../../constructs/api/status.ts';

/** A condition as the operator has reported it. */
export function conditionOf(type: ConditionType, status: Condition['status'], message = ''): Condition {
  return { type, status, reason: 'Any', message, lastTransitionTime: '2026-11-21T12:00:00Z' };
}
