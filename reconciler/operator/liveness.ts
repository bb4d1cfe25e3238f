/** What an operator whose caches were filled has done last, in milliseconds since then. */
export interface SignsOfLife {
  /** Since any watch of the management cluster has received a list, an event or a bookmark. */
  readonly silentMs: number;
  /** Since the watch that has stood still the longest has received anything, has failed or has begun again. */
  readonly stuckMs: number;
  /** Since work is due of which the queue has begun none and ended none; 0 when none is due. */
  readonly undoneMs: number;
  /**
   * The reconcile of which no phase, request or call has begun or ended for the longest time. However slowly servers answer, each call ends at its
   * deadline. Undefined when none runs.
   */
  readonly stillest: { readonly key: string; readonly ms: number } | undefined;
}

/**
 * Four times as long as one watch is silent before it is opened again, and longer than the rest of one that may not be read. An API server
 * that is unreachable for less ends no operator.
 */
const limitMs = 10 * 60_000;

/** Why the process has to be started again, as a sentence; undefined while it lives. */
export function whyDead({ silentMs, stuckMs, undoneMs, stillest }: SignsOfLife): string | undefined {
  if (silentMs >= limitMs) return `no watch of the management cluster has received anything for ${minutes(silentMs)}`;
  if (stuckMs >= limitMs)
    return `a watch of the management cluster has neither gone on nor failed for ${minutes(stuckMs)}`;
  if (undoneMs >= limitMs)
    return `the queue has begun and ended nothing for ${minutes(undoneMs)}, although work is due`;
  if (stillest && stillest.ms >= limitMs)
    return `the reconcile of ${stillest.key} has neither done anything nor ended for ${minutes(stillest.ms)}`;
  return undefined;
}

function minutes(ms: number): string {
  return `${Math.floor(ms / 60_000)} minutes`;
}
