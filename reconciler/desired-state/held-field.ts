import type { ConditionReason } from '../../constructs/api/conditions.ts';
import type { HeldFieldStatus } from '../../constructs/api/status.ts';
import { truncated } from '../kube/truncated.ts';

/** A field of the spec that the operator has not applied yet, or not as a whole. */
export interface HeldField {
  /** Path in the spec, such as `version`; `spec` for all of it. */
  readonly field: string;
  /** What it waits for, as a sentence. */
  readonly because: string;
  /** The reason of the condition that has the same sentence, or says more. */
  readonly reason: ConditionReason;
}

const longestSentence = 1024;

/**
 * The held fields as the status has them, one entry for each. A field that was held before keeps its time, whatever it waits for
 * by now.
 */
export function reportHeld(
  held: readonly HeldField[],
  before: readonly HeldFieldStatus[] | undefined,
  now: Date,
): HeldFieldStatus[] | undefined {
  if (held.length === 0) return undefined;
  return [...Map.groupBy(held, ({ field }) => field)].map(([field, entries]) => ({
    field,
    because: truncated(entries.map(({ because }) => because).join('; '), longestSentence),
    since: before?.find((one) => one.field === field)?.since ?? now.toISOString(),
  }));
}
