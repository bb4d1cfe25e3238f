/** A metav1 condition. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  /** When `status` became what it is, RFC 3339 in whole seconds. */
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number | undefined;
}

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

/** The conditions with one of them replaced in its place, or added at the end. */
export function setCondition(previous: readonly Condition[], draft: ConditionDraft, now: Date): Condition[] {
  const before = previous.find(({ type }) => type === draft.type);
  const next = transition(before, draft, now);
  return before ? previous.map((condition) => (condition === before ? next : condition)) : [...previous, next];
}

/** Whether writing the second list instead of the first would change anything. */
export function conditionsEqual(a: readonly Condition[], b: readonly Condition[]): boolean {
  return a.length === b.length && a.every((condition, index) => isSame(condition, b[index]));
}

function transition(before: Condition | undefined, draft: ConditionDraft, now: Date): Condition {
  const lastTransitionTime = before && before.status === draft.status ? before.lastTransitionTime : wholeSeconds(now);
  return { ...draft, lastTransitionTime };
}

function isSame(a: Condition, b: Condition | undefined): boolean {
  return (
    a.type === b?.type &&
    a.status === b.status &&
    a.reason === b.reason &&
    a.message === b.message &&
    a.lastTransitionTime === b.lastTransitionTime &&
    a.observedGeneration === b.observedGeneration
  );
}

/** metav1.Time has no fractions: with them what we read back would differ from what we wrote. */
function wholeSeconds(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, 'Z');
}
