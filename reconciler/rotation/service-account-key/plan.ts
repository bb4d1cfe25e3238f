/** What the next step of a rotation of service account keys is decided from. Keys appear by their ids. */
export interface KeyRotationState {
  /** As they stand in the Secret: tokens of all of them are accepted, the first one signs. */
  readonly keys: readonly string[];
  /** The key that shall sign, in a Secret of its own. */
  readonly successor: { readonly key: string; readonly isOurs: boolean } | undefined;
  /** The keys are ours, and not the user's. */
  readonly isOurs: boolean;
  /** Somebody asks for a new key, and has not been answered. */
  readonly isRequested: boolean;
  /** By key, when the last token that it has signed expires; also of keys that are gone, until every API server has dropped them. */
  readonly expiries: Readonly<Record<string, Date>>;
  readonly now: Date;
}

/** What to do next. */
export type KeyRotationStep =
  /** Make a successor. */
  | { readonly kind: 'begin' }
  /** The user has to bring one: we make no keys for those who have their own. */
  | { readonly kind: 'awaitSuccessor' }
  /** Accept tokens of these keys. */
  | { readonly kind: 'distribute'; readonly keys: readonly string[] }
  /** The same, because nobody asks any more. */
  | { readonly kind: 'withdraw'; readonly keys: readonly string[] }
  /** Prove that every API server accepts tokens of the successor, then sign with it. */
  | { readonly kind: 'sign'; readonly keys: readonly string[] }
  /** Prove that nobody signs with these keys any more, then note when their last tokens expire. */
  | { readonly kind: 'schedule'; readonly keys: readonly string[] }
  /** Delete the Secret of the successor. */
  | { readonly kind: 'discard' }
  /** See that no token of these keys is kept for ever, then accept those of the other keys only. */
  | { readonly kind: 'retire'; readonly keys: readonly string[]; readonly retired: readonly string[] }
  /** Prove that no API server accepts tokens of these keys, then forget them. */
  | { readonly kind: 'forget'; readonly keys: readonly string[] }
  | { readonly kind: 'wait'; readonly until: Date }
  | { readonly kind: 'settled' };

type Check = (state: KeyRotationState) => KeyRotationStep | undefined;

/**
 * The next step on the way to the key that is asked for. No API server ever meets a token that it does not accept: what
 * is to sign is accepted everywhere first, and what has signed is dropped only after its last token has expired.
 */
export function planKeyStep(state: KeyRotationState): KeyRotationStep {
  for (const check of checks) {
    const step = check(state);
    if (step) return step;
  }
  return { kind: 'settled' };
}

const checks: readonly Check[] = [
  function knowWhenOldTokensExpire(state) {
    const { keys, successor, isOurs } = state;
    const unscheduled = formerOf(state).filter((key) => !(key in state.expiries));
    // Keys beside the signing one that a user has put there himself are his to take away.
    const isPast = successor ? successor.key === keys[0] : isOurs;
    return isPast && unscheduled.length > 0 ? { kind: 'schedule', keys: unscheduled } : undefined;
  },
  function keepNoSecondCopy({ keys, successor }) {
    return successor?.isOurs && successor.key === keys[0] ? { kind: 'discard' } : undefined;
  },
  function beSureThatRetiredKeysAreGone({ keys, expiries }) {
    const gone = Object.keys(expiries).filter((key) => !keys.includes(key));
    return gone.length > 0 ? { kind: 'forget', keys: gone } : undefined;
  },
  function goBackWhenNobodyAsks({ keys, successor, isRequested, expiries }) {
    if (!successor || isRequested || successor.key === keys[0]) return undefined;
    // A key that has signed before stays until its tokens have expired.
    const isKnown = keys.includes(successor.key) && !(successor.key in expiries);
    if (isKnown) return { kind: 'withdraw', keys: keys.filter((key) => key !== successor.key) };
    return successor.isOurs ? { kind: 'discard' } : undefined;
  },
  function letItVerifyEverywhere({ keys, successor, isRequested }) {
    if (!successor || !isRequested || keys.includes(successor.key)) return undefined;
    return { kind: 'distribute', keys: [...keys, successor.key] };
  },
  function letItSign({ keys, successor, isRequested }) {
    if (!successor || !isRequested || successor.key === keys[0]) return undefined;
    return { kind: 'sign', keys: [successor.key, ...keys.filter((key) => key !== successor.key)] };
  },
  function makeASuccessor({ successor, isOurs, isRequested }) {
    return isRequested && isOurs && !successor ? { kind: 'begin' } : undefined;
  },
  function retireWhatHasExpired(state) {
    const { keys, expiries, now } = state;
    const retired = formerOf(state).filter((key) => (expiries[key] ?? never) <= now);
    if (retired.length === 0) return undefined;
    return { kind: 'retire', keys: keys.filter((key) => !retired.includes(key)), retired };
  },
  function askForASuccessor({ isOurs, isRequested }) {
    return isRequested && !isOurs ? { kind: 'awaitSuccessor' } : undefined;
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
