/** What the rotation of one authority is decided from. Certificates appear by their fingerprints. */
export interface RotationState {
  /** Those in the Secret of the authority: the first one signs, all of them are trusted. */
  readonly trusted: readonly string[];
  /** The successor that waits; undefined when there is none. */
  readonly next: string | undefined;
  /** Somebody has asked for another one, or it is time for one. */
  readonly isWanted: boolean;
  /** We may make a successor; that of a user's own authority is theirs to make. */
  readonly mayMakeNext: boolean;
  /** Everybody who verifies was seen to trust exactly what is in the Secret. */
  readonly isDistributed: boolean;
  /** Everything that is presented was signed by the one that signs now, apart from what nodes present. */
  readonly isReissued: boolean;
  /** No node presents a certificate of another one than the one that signs now. */
  readonly areWorkersMoved: boolean;
}

/** The next thing to do. All that write are one write. */
export type RotationStep =
  /** Make the successor. Nobody knows of it yet. */
  | { readonly kind: 'begin' }
  /** A user's own authority needs a successor of theirs. */
  | { readonly kind: 'await-successor' }
  /** Have it trusted beside the one that signs. */
  | { readonly kind: 'distribute'; readonly trusted: readonly string[] }
  /** Find out whether everybody trusts it. */
  | { readonly kind: 'prove' }
  /** Have it trusted no more: the request was taken back, and it has never signed. */
  | { readonly kind: 'withdraw'; readonly trusted: readonly string[] }
  /** Delete it: nobody is told to trust it. */
  | { readonly kind: 'discard' }
  /** Let it sign. There is no way back from here. */
  | { readonly kind: 'sign'; readonly trusted: readonly string[] }
  /** Find out whether everything that is presented is signed by it. */
  | { readonly kind: 'reissue' }
  | { readonly kind: 'move-workers' }
  /** Have the old one trusted no more. */
  | { readonly kind: 'retire'; readonly trusted: readonly string[] }
  /** Find out whether nobody is told to trust the old one any more. */
  | { readonly kind: 'clean-up' }
  /** Delete what waited: it is in place. */
  | { readonly kind: 'finish' }
  | { readonly kind: 'settled' };

type Check = (state: RotationState & { readonly signer: string }) => RotationStep | undefined;

/**
 * The next step on the way from one authority to another. What signs is trusted by all before it signs, and nothing is
 * distrusted that anybody still presents. Everything is read from the world, so that it goes on from wherever it was left.
 */
export function planRotation(state: RotationState): RotationStep {
  const [signer] = state.trusted;
  if (signer === undefined) return { kind: 'settled' };
  for (const check of checks) {
    const step = check({ ...state, signer });
    if (step) return step;
  }
  return { kind: 'settled' };
}

const checks: readonly Check[] = [
  function goBackWhenNobodyWantsItAnyMore({ trusted, next, signer, isWanted }) {
    if (next === undefined || next === signer || isWanted) return undefined;
    return trusted.includes(next) ? { kind: 'withdraw', trusted: without(trusted, next) } : { kind: 'discard' };
  },
  function letItBeTrusted({ trusted, next }) {
    return next === undefined || trusted.includes(next)
      ? undefined
      : { kind: 'distribute', trusted: [...trusted, next] };
  },
  function letItSignWhenAllTrustIt({ trusted, next, signer, isDistributed }) {
    if (next === undefined || next === signer) return undefined;
    return isDistributed ? { kind: 'sign', trusted: [next, ...without(trusted, next)] } : { kind: 'prove' };
  },
  function retireTheOthersWhenNobodyPresentsThem(state) {
    const { trusted, signer, isReissued, areWorkersMoved } = state;
    if (trusted.length === 1 || isUsersBundle(state)) return undefined;
    if (!isReissued) return { kind: 'reissue' };
    return areWorkersMoved ? { kind: 'retire', trusted: [signer] } : { kind: 'move-workers' };
  },
  function forgetWhatIsInPlace({ next, isDistributed }) {
    if (next === undefined) return undefined;
    return isDistributed ? { kind: 'finish' } : { kind: 'clean-up' };
  },
  function beginWhenWanted({ isWanted, mayMakeNext }) {
    if (!isWanted) return undefined;
    return { kind: mayMakeNext ? 'begin' : 'await-successor' };
  },
];

/** A user may trust several authorities for reasons of theirs; without a successor they are no rotation of ours. */
function isUsersBundle({ next, mayMakeNext }: RotationState): boolean {
  return next === undefined && !mayMakeNext;
}

function without(trusted: readonly string[], other: string): string[] {
  return trusted.filter((certificate) => certificate !== other);
}
