import type { ConditionReason } from '../../constructs/api/conditions.ts';
import { identity, madeAt } from './configuration.ts';

/** What a rotation is decided from. Providers appear by the names of their keys, or as `identity`. */
export interface RotationState {
  /** As configured: the first one writes, all of them read. */
  readonly providers: readonly string[];
  /** Keys that were used once, here or where a backup is from. They read at most what a restore has brought. */
  readonly retired: readonly string[];
  /** Every API server has loaded just this configuration. */
  readonly isLoaded: boolean;
  /** Since then every Secret was stored anew. */
  readonly isRewritten: boolean;
  /** What the user wants; as it is when unset. */
  readonly wanted: 'secretbox' | 'None' | undefined;
  /** The user has asked for another key since the newest one was made. */
  readonly wantsNewKey: boolean;
  /** A backup is being restored: Secrets of any age may come back. */
  readonly isRestoring: boolean;
}

/** A key that is to be made. */
export const fresh = 'fresh';

/** What to do next. */
export type RotationStep =
  | { readonly kind: 'configure'; readonly providers: readonly string[] }
  /** Find out whether all API servers have loaded the configuration. */
  | { readonly kind: 'prove'; readonly reason: ConditionReason<'EncryptionAtRestReady'> }
  | { readonly kind: 'rewrite' }
  /** Nothing until the API servers are let in again. */
  | { readonly kind: 'hold' }
  | { readonly kind: 'settled' };

type Check = (state: RotationState) => RotationStep | undefined;

/**
 * The next step on the way to one provider that writes and reads everything. No API server ever meets a Secret that it
 * cannot read: what is to write is read everywhere first, and what does not write any more goes only after everything
 * was stored anew.
 */
export function planStep(state: RotationState): RotationStep {
  for (const check of checks) {
    const step = check(state);
    if (step) return step;
  }
  return { kind: 'settled' };
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
 * What shall store Secrets: of several keys the newest, which was made to be it. A retired one never does again: one that
 * a backup of another cluster has brought may be newer than our own, and that cluster has it too.
 */
function wantedWriter({ providers, retired, wanted, wantsNewKey }: RotationState): string {
  const isInClear = providers[0] === identity;
  if (wanted === 'None' || (wanted === undefined && isInClear)) return identity;
  const keys = providers
    .filter((name) => name !== identity && !retired.includes(name))
    .sort((a, b) => madeAt(b) - madeAt(a));
  return wantsNewKey ? fresh : (keys[0] ?? fresh);
}
