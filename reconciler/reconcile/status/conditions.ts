import type { Condition } from '../../../constructs/api/status.ts';

/** A condition before its transition time is known. */
export type ConditionDraft = Omit<Condition, 'lastTransitionTime'>;

/**
 * The conditions to write: exactly the drafts in their order. Each keeps its transition time unless its status changes.
 * Other conditions are removed.
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

/** metav1.Time has no fractions; with fractions the stored value would differ from the written one. */
function wholeSeconds(time: Date): string {
  return `${time.toISOString().slice(0, -'.000Z'.length)}Z`;
}
