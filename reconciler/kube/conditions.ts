import type { Condition } from '../../constructs/api/status.ts';

/** A condition as it is decided, before it is known since when it holds. */
export type ConditionDraft = Omit<Condition, 'lastTransitionTime'>;

/**
 * The conditions to write: exactly the drafts in their order, each with the transition time it had before unless its
 * status is another one now. Conditions that are no longer decided disappear.
 */
export function mergeConditions(
  previous: readonly Condition[],
  drafts: readonly ConditionDraft[],
  now: Date,
): Condition[] {
  const before = new Map(previous.map((condition) => [condition.type, condition]));
  return drafts.map((draft) => transition(before.get(draft.type), draft, now));
}

function transition(before: Condition | undefined, draft: ConditionDraft, now: Date): Condition {
  const lastTransitionTime = before && before.status === draft.status ? before.lastTransitionTime : wholeSeconds(now);
  return { ...draft, lastTransitionTime };
}

/** metav1.Time has no fractions: with them what we read back would differ from what we wrote. */
function wholeSeconds(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, 'Z');
}
