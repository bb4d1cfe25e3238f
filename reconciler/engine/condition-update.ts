import type { ConditionReason, ConditionType } from '../../constructs/api/conditions.ts';
import type { Condition } from '../../constructs/api/status.ts';

/** A verdict on one condition; times and generation are added when it is written. */
export interface Verdict {
  readonly status: Condition['status'];
  readonly reason: ConditionReason;
  readonly message: string;
}

export type Verdicts = Readonly<Partial<Record<ConditionType, Verdict>>>;

export function verdict(status: Condition['status'], reason: ConditionReason, message = ''): Verdict {
  return { status, reason, message };
}
