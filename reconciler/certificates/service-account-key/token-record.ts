import { z } from 'zod';
import { group } from '../../../constructs/api/group.ts';
import {
  longestTokenSeconds,
  longestTokenSecondsOf,
} from '../../../constructs/control-plane/api-server/token-lifetime.ts';
import type { KubeObject } from '../../kube/object.ts';
import { deploymentReadiness } from '../../kube/readiness.ts';
import { apiServerArguments } from '../../clusters/pods/api-server-arguments.ts';

/** Annotation of the Secret of service account keys, with facts about tokens that must survive the process. */
export const tokensAnnotation = `${group}/service-account-tokens`;

/** Known facts about the tokens that keys have signed. */
export interface TokenRecord {
  /** Lifetime of the longest token that is signed now. */
  readonly lifetimeSeconds: number;
  /** When the last token expires that was signed with an earlier, longer lifetime; unset if there is none. */
  readonly earlierUntil?: Date | undefined;
  /** By ID of a key that no longer signs, when the last of its tokens expires. */
  readonly expiries: Readonly<Record<string, Date>>;
}

const Recorded = z.object({
  lifetimeSeconds: z.number().positive(),
  earlierUntil: z.coerce.date().optional(),
  expiries: z.record(z.string(), z.coerce.date()),
});

/** The clocks of API servers may be behind, and they tolerate one minute. */
const marginMs = 10 * 60_000;

/** The record of a Secret. Without one, such as in a user's Secret, tokens have the default lifetime. */
export function readTokenRecord({ metadata }: KubeObject): TokenRecord {
  const none = { lifetimeSeconds: longestTokenSecondsOf(), expiries: {} };
  try {
    return Recorded.parse(JSON.parse(metadata.annotations?.[tokensAnnotation] ?? ''));
  } catch {
    return none;
  }
}

/** The annotation of keys that have signed nothing yet; none for the default lifetime. */
export function firstTokenRecord(args: Readonly<Record<string, string>> | undefined): Record<string, string> {
  const lifetimeSeconds = longestTokenSecondsOf(args);
  return lifetimeSeconds === longestTokenSecondsOf() ? {} : formatTokenRecord({ lifetimeSeconds, expiries: {} });
}

export function formatTokenRecord(record: TokenRecord): Record<string, string> {
  return { [tokensAnnotation]: JSON.stringify(record satisfies z.input<typeof Recorded>) };
}

/** The record after a change of the token lifetime; unchanged if the lifetime is the same. */
export function withLifetime(record: TokenRecord, lifetimeSeconds: number, now: Date): TokenRecord {
  if (lifetimeSeconds === record.lifetimeSeconds) return record;
  return { ...record, lifetimeSeconds, earlierUntil: lastExpiry(record, now) };
}

/** When the last token that was signed until now expires. */
export function lastExpiry({ lifetimeSeconds, earlierUntil }: Omit<TokenRecord, 'expiries'>, now: Date): Date {
  const latest = now.getTime() + lifetimeSeconds * 1000 + marginMs;
  return new Date(Math.max(latest, earlierUntil?.getTime() ?? 0));
}

/**
 * Lifetime of the longest token that API servers sign, in seconds, once all of them match their Deployment; undefined
 * before that.
 */
export function runningTokenSeconds(deployment: KubeObject | undefined): number | undefined {
  const args = apiServerArguments(deployment);
  return args && deploymentReadiness(deployment).ready ? longestTokenSeconds(args) : undefined;
}
