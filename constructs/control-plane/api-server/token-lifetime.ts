import { durationSeconds, isDuration } from '../../api/duration.ts';
import type { Flag } from '../../pod/flags.ts';

const maxExpiration = 'service-account-max-token-expiration';

/**
 * Bounds the life of service account tokens. Longer ones may be asked for, and kube-apiserver shortens them with a
 * warning instead of refusing them, as seen on 1.36. A bound of the user counts in place of ours.
 */
export function tokenLifetimeFlags(users: Readonly<Record<string, string>> = {}): Flag[] {
  if (users[maxExpiration] !== undefined) return [];
  return [[maxExpiration, '8760h', 'without a bound a key that signed once could never be retired']];
}

const hour = 3600;
/** Pods get tokens that live for a year when they ask for exactly 3607 seconds, whatever the bound is above that. */
const extended = { requestedSeconds: 3607, lifetimeSeconds: 365 * 24 * hour };
/** What Kubernetes lets a TokenRequest ask for at most. */
const unboundedSeconds = 2 ** 32;

/** How long the longest token lives that an API server with these arguments signs, in seconds. */
export function longestTokenSeconds(args: Readonly<Record<string, string>>): number {
  const bound = args[maxExpiration] ?? '';
  // Zero, which is no bound, is no duration in the sense of our own settings.
  const seconds = isDuration(bound) && durationSeconds(bound) > 0 ? durationSeconds(bound) : unboundedSeconds;
  const isExtended =
    args['service-account-extend-token-expiration'] !== 'false' && seconds >= extended.requestedSeconds;
  return isExtended ? Math.max(seconds, extended.lifetimeSeconds) : seconds;
}

/** The same for the arguments of a user, beside which ours stand. */
export function longestTokenSecondsOf(users: Readonly<Record<string, string>> = {}): number {
  const ours = Object.fromEntries(tokenLifetimeFlags(users).map(([name, value]) => [name, value]));
  return longestTokenSeconds({ ...users, ...ours });
}
