import { firstMatch } from '../../engine/first-match.ts';

/** The input of a decision about a rotation of service account keys. Keys appear by their IDs. */
export interface KeyRotationState {
  /** As in the Secret: tokens of all of them are accepted, the first one signs. */
  readonly keys: readonly string[];
  /** The key that should sign, in a Secret of its own. */
  readonly successor: { readonly key: string; readonly isControlled: boolean } | undefined;
  /** The operator created the keys, and not the user. */
  readonly isControlled: boolean;
  /** A request for a new key has not been answered. */
  readonly isRequested: boolean;
  /**
   * By key, when the last token that it has signed expires; includes removed keys, until every API server has dropped
   * them.
   */
  readonly expiries: Readonly<Record<string, Date>>;
  readonly now: Date;
}

/** What to do next. */
export type KeyRotationStep =
  /** Create a successor. */
  | { readonly kind: 'begin' }
  /** The user must provide one: the operator creates no keys for users that have their own. */
  | { readonly kind: 'awaitSuccessor' }
  /** Accept tokens of these keys. */
  | { readonly kind: 'distribute'; readonly keys: readonly string[] }
  /** The same, because the request was removed. */
  | { readonly kind: 'withdraw'; readonly keys: readonly string[] }
  /** Prove that every API server accepts tokens of the successor, then sign with it. */
  | { readonly kind: 'sign'; readonly keys: readonly string[] }
  /** Prove that no component signs with these keys any more, then record when their last tokens expire. */
  | { readonly kind: 'schedule'; readonly keys: readonly string[] }
  /** Delete the Secret of the successor. */
  | { readonly kind: 'discard' }
  /** Check that no permanent token of these keys exists, then accept only those of the other keys. */
  | { readonly kind: 'retire'; readonly keys: readonly string[]; readonly retired: readonly string[] }
  /** Prove that no API server accepts tokens of these keys, then remove them from the record. */
  | { readonly kind: 'forget'; readonly keys: readonly string[] }
  | { readonly kind: 'wait'; readonly until: Date }
  | { readonly kind: 'settled' };

type Check = (state: KeyRotationState) => KeyRotationStep | undefined;

/**
 * The next step towards the requested key. No API server ever gets a token that it does not accept: every API server
 * accepts a key before it signs, and a former key is dropped only after its last token has expired.
 */
export function planKeyStep(state: KeyRotationState): KeyRotationStep {
  return firstMatch(checks, state) ?? { kind: 'settled' };
}

const checks: readonly Check[] = [
  function knowWhenOldTokensExpire(state) {
    const { keys, successor, isControlled } = state;
    const unscheduled = formerOf(state).filter((key) => !(key in state.expiries));
    // Only the user may remove keys that the user has added beside the signing one.
    const isPast = successor ? successor.key === keys[0] : isControlled;
    return isPast && unscheduled.length > 0 ? { kind: 'schedule', keys: unscheduled } : undefined;
  },
  function keepNoSecondCopy({ keys, successor }) {
    return successor?.isControlled && successor.key === keys[0] ? { kind: 'discard' } : undefined;
  },
  function beSureThatRetiredKeysAreGone({ keys, expiries }) {
    const gone = Object.keys(expiries).filter((key) => !keys.includes(key));
    return gone.length > 0 ? { kind: 'forget', keys: gone } : undefined;
  },
  function withdrawWithoutRequest({ keys, successor, isRequested, expiries }) {
    if (!successor || isRequested || successor.key === keys[0]) return undefined;
    // A key that has signed before stays until its tokens have expired.
    const isKnown = keys.includes(successor.key) && !(successor.key in expiries);
    if (isKnown) return { kind: 'withdraw', keys: keys.filter((key) => key !== successor.key) };
    return successor.isControlled ? { kind: 'discard' } : undefined;
  },
  function letItVerifyEverywhere({ keys, successor, isRequested }) {
    if (!successor || !isRequested || keys.includes(successor.key)) return undefined;
    return { kind: 'distribute', keys: [...keys, successor.key] };
  },
  function letItSign({ keys, successor, isRequested }) {
    if (!successor || !isRequested || successor.key === keys[0]) return undefined;
    return { kind: 'sign', keys: [successor.key, ...keys.filter((key) => key !== successor.key)] };
  },
  function makeASuccessor({ successor, isControlled, isRequested }) {
    return isRequested && isControlled && !successor ? { kind: 'begin' } : undefined;
  },
  function retireWhatHasExpired(state) {
    const { keys, expiries, now } = state;
    const retired = formerOf(state).filter((key) => (expiries[key] ?? never) <= now);
    if (retired.length === 0) return undefined;
    return { kind: 'retire', keys: keys.filter((key) => !retired.includes(key)), retired };
  },
  function askForASuccessor({ isControlled, isRequested }) {
    return isRequested && !isControlled ? { kind: 'awaitSuccessor' } : undefined;
  },
  function letTokensExpire(state) {
    const times = formerOf(state).flatMap((key) => state.expiries[key]?.getTime() ?? []);
    return times.length > 0 ? { kind: 'wait', until: new Date(Math.min(...times)) } : undefined;
  },
];

const never = new Date(8.64e15);

/** Keys that do not sign. */
function formerOf({ keys }: KeyRotationState): readonly string[] {
  return keys.slice(1);
}
