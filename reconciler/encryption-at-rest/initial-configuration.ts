import { identity } from './configuration.ts';
import { fresh } from './rotation.ts';

/** The initial configuration of a control plane without one. */
export type InitialConfiguration =
  | { readonly kind: 'configure'; readonly providers: readonly string[] }
  /** Secrets are stored unencrypted, and nothing is configured. */
  | { readonly kind: 'clear' }
  /** The user provides the configuration, by an argument of the API server. */
  | { readonly kind: 'users' }
  /** A configuration existed, and without it the Secrets encrypted with its keys cannot be read. */
  | { readonly kind: 'lost' };

export interface InitialConfigurationState {
  readonly wanted: 'secretbox' | 'None' | undefined;
  /** API servers run, or have run. */
  readonly hasStarted: boolean;
  /** The API servers are configured to read a configuration. */
  readonly isConfigured: boolean;
  /** The provider in the status. */
  readonly reported: 'secretbox' | 'None' | undefined;
  /** The user's arguments of the API servers name a configuration. */
  readonly isUsersOwn: boolean;
}

/** What to do if there is no configuration. */
export function begin({
  wanted,
  hasStarted,
  isConfigured,
  reported,
  isUsersOwn,
}: InitialConfigurationState): InitialConfiguration {
  if (reported === 'secretbox' || (isConfigured && reported === undefined)) return { kind: 'lost' };
  // No Secret is encrypted, but pods need the file.
  if (isConfigured) return { kind: 'configure', providers: [identity] };
  if (isUsersOwn) return { kind: 'users' };
  if (wanted === 'None') return { kind: 'clear' };
  if (!hasStarted) return { kind: 'configure', providers: [fresh] };
  // One of several API servers loads the key first. It must not write what the others cannot read.
  return wanted === 'secretbox' ? { kind: 'configure', providers: [identity, fresh] } : { kind: 'clear' };
}
