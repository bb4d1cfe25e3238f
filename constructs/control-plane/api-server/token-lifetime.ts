import { durationSeconds, isDuration } from '../../api/duration.ts';
import type { Flag } from '../../pod/flags.ts';

const maxExpiration = 'service-account-max-token-expiration';

/**
 * Limits the lifetime of service account tokens. Clients may request longer ones: kube-apiserver then shortens the
 * lifetime with a warning instead of rejecting the request, as observed with 1.36. A limit of the user takes
 * precedence.
 */
export function tokenLifetimeFlags(users: Readonly<Record<string, string>> = {}): Flag[] {
  if (users[maxExpiration] !== undefined) return [];
  return [[maxExpiration, '8760h', 'without a limit a key that has signed could never be retired']];
}

const hour = 3600;
/** Pods that request exactly 3607 seconds get tokens for a year, for every limit above 3607 seconds. */
const extended = { requestedSeconds: 3607, lifetimeSeconds: 365 * 24 * hour };
/** The maximum lifetime that Kubernetes accepts in a TokenRequest. */
const unboundedSeconds = 2 ** 32;

/** The longest lifetime of the tokens that an API server with these arguments signs, in seconds. */
export function longestTokenSeconds(args: Readonly<Record<string, string>>): number {
  const bound = args[maxExpiration] ?? '';
  // Zero means no limit, and isDuration rejects it.
  const seconds = isDuration(bound) && durationSeconds(bound) > 0 ? durationSeconds(bound) : unboundedSeconds;
  const isExtended =
    args['service-account-extend-token-expiration'] !== 'false' && seconds >= extended.requestedSeconds;
  return isExtended ? Math.max(seconds, extended.lifetimeSeconds) : seconds;
}

/** {@link longestTokenSeconds} for the arguments of a user together with those of the operator. */
export function longestTokenSecondsOf(users: Readonly<Record<string, string>> = {}): number {
  const lifetimeFlags = Object.fromEntries(tokenLifetimeFlags(users).map(([name, value]) => [name, value]));
  return longestTokenSeconds({ ...users, ...lifetimeFlags });
}
