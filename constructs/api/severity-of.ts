import { type ConditionType, conditions } from './conditions.ts';
import type { ConditionDescription } from './conditions/description.ts';
import { type Severity, sharedReasons } from './severity.ts';

/**
 * Severity of a reason of this condition. Reasons that Ready takes from other conditions are routine, because these report
 * them, and so are those that another version of the operator has written.
 */
export function severityOf(type: ConditionType, reason: string): Severity {
  const { reasons: own }: ConditionDescription = conditions[type];
  if (type === 'Ready') return own[reason] ?? 'Routine';
  const shared: ConditionDescription['reasons'] = sharedReasons;
  return own[reason] ?? shared[reason] ?? 'Routine';
}
