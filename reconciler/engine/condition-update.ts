import type { ConditionReason, ConditionType } from '../../constructs/api/conditions.ts';
import type { Condition } from '../../constructs/api/status.ts';

/** The new state of one condition; times and generation are added when it is written. */
export interface ConditionUpdate {
  readonly status: Condition['status'];
  readonly reason: ConditionReason;
  readonly message: string;
}

export type ConditionUpdates = Readonly<Partial<Record<ConditionType, ConditionUpdate>>>;

export function conditionUpdate(status: Condition['status'], reason: ConditionReason, message = ''): ConditionUpdate {
  return { status, reason, message };
}

/** Reported by every reconcile that is not paused, whatever else it finds. */
export const notPaused: ConditionUpdates = { Paused: conditionUpdate('False', 'NotPaused') };
