import { type ConditionDescription, type ConditionType, conditions } from './conditions.ts';

/**
 * What the events of a control plane say when a condition gets a reason.
 * - `Warning`: something is broken, or a person has to act.
 * - `Outage`: a Warning once workers can join. Before, nothing has failed: the control plane is still coming up.
 * - `Normal`: a step worth knowing.
 * - `Routine`: nothing. Every bring-up or every change has it, and only the log names it.
 */
export type Severity = 'Warning' | 'Outage' | 'Normal' | 'Routine';

/** Reasons any condition may carry, with their severity unless the condition declares another one. */
export const sharedReasons = {
  ReconcileSucceeded: 'Routine',
  ReconcileFailed: 'Warning',
  InvalidConfiguration: 'Warning',
  WaitingForOtherPhases: 'Routine',
  NotObserved: 'Routine',
  Deleting: 'Routine',
} as const satisfies Readonly<Record<string, Severity>>;

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
