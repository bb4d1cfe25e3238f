import { firstMatch } from '../../engine/first-match.ts';

/** The input of a decision about the rotation of one CA. Certificates appear by their fingerprints. */
export interface RotationState {
  /** The certificates in the Secret of the CA: the first one signs, all of them are trusted. */
  readonly trusted: readonly string[];
  /** The successor; undefined if there is none. */
  readonly next: string | undefined;
  /** A successor was requested, or is due. */
  readonly isWanted: boolean;
  /** The operator may create a successor. For a user's own CA, only the user may. */
  readonly mayMakeNext: boolean;
  /** All verifying components have been observed to trust exactly the certificates in the Secret. */
  readonly isDistributed: boolean;
  /** The signing CA has issued every presented certificate, except those of nodes. */
  readonly isReissued: boolean;
  /** The signing CA has issued every certificate that nodes present. */
  readonly areWorkersMoved: boolean;
}

/** The next thing to do. All writes of a step are a single write. */
export type RotationStep =
  /** Create the successor. No component knows it yet. */
  | { readonly kind: 'begin' }
  /** A user must provide the successor of the user's own CA. */
  | { readonly kind: 'awaitSuccessor' }
  /** Distribute trust in it, in addition to the signing CA. */
  | { readonly kind: 'distribute'; readonly trusted: readonly string[] }
  /** Check whether all components trust it. */
  | { readonly kind: 'prove' }
  /** Remove trust in it: the request was withdrawn, and it has never signed. */
  | { readonly kind: 'withdraw'; readonly trusted: readonly string[] }
  /** Delete it. No component trusts it. */
  | { readonly kind: 'discard' }
  /** Let it sign. This step cannot be reversed. */
  | { readonly kind: 'sign'; readonly trusted: readonly string[] }
  /** Check whether it has issued every presented certificate. */
  | { readonly kind: 'reissue' }
  | { readonly kind: 'moveWorkers' }
  /** Remove trust in the old CA. */
  | { readonly kind: 'retire'; readonly trusted: readonly string[] }
  /** Check that no component is configured to trust the old CA any more. */
  | { readonly kind: 'cleanUp' }
  /** Delete the Secret of the successor, which is in place. */
  | { readonly kind: 'finish' }
  | { readonly kind: 'settled' };

type Check = (state: RotationState & { readonly signer: string }) => RotationStep | undefined;

/**
 * The next step of the replacement of a CA. All components trust a CA before it signs, and trust is removed only when
 * no component presents its certificates any more. All input is observed, so that the rotation can be interrupted at
 * any point.
 */
export function planRotation(state: RotationState): RotationStep {
  const [signer] = state.trusted;
  if (signer === undefined) return { kind: 'settled' };
  return firstMatch(checks, { ...state, signer }) ?? { kind: 'settled' };
}

const checks: readonly Check[] = [
  function withdrawWhenNotWanted({ trusted, next, signer, isWanted }) {
    if (next === undefined || next === signer || isWanted) return undefined;
    return trusted.includes(next) ? { kind: 'withdraw', trusted: without(trusted, next) } : { kind: 'discard' };
  },
  function distributeTrust({ trusted, next }) {
    return next === undefined || trusted.includes(next)
      ? undefined
      : { kind: 'distribute', trusted: [...trusted, next] };
  },
  function signWhenAllTrustIt({ trusted, next, signer, isDistributed }) {
    if (next === undefined || next === signer) return undefined;
    return isDistributed ? { kind: 'sign', trusted: [next, ...without(trusted, next)] } : { kind: 'prove' };
  },
  function retireOthersWhenNotPresented(state) {
    const { trusted, signer, isReissued, areWorkersMoved } = state;
    if (trusted.length === 1 || isUsersBundle(state)) return undefined;
    if (!isReissued) return { kind: 'reissue' };
    return areWorkersMoved ? { kind: 'retire', trusted: [signer] } : { kind: 'moveWorkers' };
  },
  function finishWhenInPlace({ next, isDistributed }) {
    if (next === undefined) return undefined;
    return isDistributed ? { kind: 'finish' } : { kind: 'cleanUp' };
  },
  function beginWhenWanted({ isWanted, mayMakeNext }) {
    if (!isWanted) return undefined;
    return { kind: mayMakeNext ? 'begin' : 'awaitSuccessor' };
  },
];

/** A user may trust several CAs for other reasons. Without a successor they are not a rotation. */
function isUsersBundle({ next, mayMakeNext }: RotationState): boolean {
  return next === undefined && !mayMakeNext;
}

function without(trusted: readonly string[], other: string): string[] {
  return trusted.filter((certificate) => certificate !== other);
}
