import { identity } from './configuration.ts';
import { fresh } from './rotation.ts';

/** What a control plane without a configuration begins with. */
export type InitialConfiguration =
  | { readonly kind: 'configure'; readonly providers: readonly string[] }
  /** Secrets are stored in clear, and nothing is configured. */
  | { readonly kind: 'clear' }
  /** The user has a configuration of his own, by an argument of the API server. */
  | { readonly kind: 'users' }
  /** There was one, and nothing else can read what was stored under its keys. */
  | { readonly kind: 'lost' };

export interface InitialConfigurationState {
  readonly wanted: 'secretbox' | 'None' | undefined;
  /** API servers have run here, or do. */
  readonly hasStarted: boolean;
  /** The API servers are set up to read a configuration. */
  readonly isConfigured: boolean;
  /** What was reported last. */
  readonly reported: 'secretbox' | 'None' | undefined;
  /** The API servers have an argument of the user that names a configuration. */
  readonly isUsersOwn: boolean;
}

/** What to do where there is no configuration. */
export function begin({
  wanted,
  hasStarted,
  isConfigured,
  reported,
  isUsersOwn,
}: InitialConfigurationState): InitialConfiguration {
  if (reported === 'secretbox' || (isConfigured && reported === undefined)) return { kind: 'lost' };
  // Nothing is stored under a key, but pods need the file.
  if (isConfigured) return { kind: 'configure', providers: [identity] };
  if (isUsersOwn) return { kind: 'users' };
  if (wanted === 'None') return { kind: 'clear' };
  if (!hasStarted) return { kind: 'configure', providers: [fresh] };
  // Of several API servers one is the first to know the key: it must not write what the others cannot read.
  return wanted === 'secretbox' ? { kind: 'configure', providers: [identity, fresh] } : { kind: 'clear' };
}
