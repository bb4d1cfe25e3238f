import { firstMatch } from '../engine/first-match.ts';
import type { ConditionReason } from '../../constructs/api/conditions.ts';
import { identity, madeAt } from './configuration.ts';

/** The input of a rotation decision. Providers appear by the names of their keys, or as `identity`. */
export interface RotationInput {
  /** As configured: the first one writes, all of them read. */
  readonly providers: readonly string[];
  /** Keys that were used before, here or in the cluster of a backup. They only read what a restore has brought. */
  readonly retired: readonly string[];
  /** Every API server has loaded exactly this configuration. */
  readonly isLoaded: boolean;
  /** Since then, every Secret was rewritten. */
  readonly isRewritten: boolean;
  /** The provider in the spec; unchanged if unset. */
  readonly wanted: 'secretbox' | 'None' | undefined;
  /** The user has requested another key since the newest one was created. */
  readonly wantsNewKey: boolean;
  /** A backup is being restored, which may bring back Secrets of any age. */
  readonly isRestoring: boolean;
}

/** A key that has to be created. */
export const fresh = 'fresh';

/** What to do next. */
export type RotationDecision =
  | { readonly kind: 'configure'; readonly providers: readonly string[] }
  /** Check whether all API servers have loaded the configuration. */
  | { readonly kind: 'prove'; readonly reason: ConditionReason<'EncryptionAtRestReady'> }
  | { readonly kind: 'rewrite' }
  /** Nothing, until the API servers run again. */
  | { readonly kind: 'hold' }
  | { readonly kind: 'settled' };

type Check = (state: RotationInput) => RotationDecision | undefined;

/**
 * The next step to a single provider that writes and reads everything. No API server ever reads a Secret without its
 * key: every API server reads with a key before any of them writes with it, and a key that no longer writes is removed
 * only after all Secrets were rewritten.
 */
export function planRotation(state: RotationInput): RotationDecision {
  return firstMatch(checks, state) ?? { kind: 'settled' };
}

const checks: readonly Check[] = [
  function readEverythingThatMayComeBack({ providers, retired, isRestoring }) {
    if (!isRestoring) return undefined;
    const missing = [...retired, identity].filter((name) => !providers.includes(name));
    return missing.length > 0 ? { kind: 'configure', providers: [...providers, ...missing] } : { kind: 'hold' };
  },
  function beSureThatItIsLoaded({ isLoaded, providers }) {
    if (isLoaded) return undefined;
    return { kind: 'prove', reason: providers.length > 1 ? 'DistributingKey' : 'RetiringKey' };
  },
  function letItReadEverywhere(state) {
    const writer = wantedWriter(state);
    return state.providers.includes(writer)
      ? undefined
      : { kind: 'configure', providers: [...state.providers, writer] };
  },
  function letItWrite(state) {
    const writer = wantedWriter(state);
    if (state.providers[0] === writer) return undefined;
    return { kind: 'configure', providers: [writer, ...state.providers.filter((name) => name !== writer)] };
  },
  function retireTheOthers({ providers: [writer = identity, ...others], isRewritten }) {
    if (others.length === 0) return undefined;
    return isRewritten ? { kind: 'configure', providers: [writer] } : { kind: 'rewrite' };
  },
];

/**
 * The provider that should write: the newest of several keys, which was created for that. A retired key never writes
 * again: a key from a backup of another cluster may be newer than the keys of this cluster, and the other cluster has
 * it too.
 */
function wantedWriter({ providers, retired, wanted, wantsNewKey }: RotationInput): string {
  const isInClear = providers[0] === identity;
  if (wanted === 'None' || (wanted === undefined && isInClear)) return identity;
  const keys = providers
    .filter((name) => name !== identity && !retired.includes(name))
    .sort((a, b) => madeAt(b) - madeAt(a));
  return wantsNewKey ? fresh : (keys[0] ?? fresh);
}
