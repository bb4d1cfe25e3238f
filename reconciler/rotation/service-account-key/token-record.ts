import { z } from 'zod';
import { group } from '../../../constructs/api/group.ts';
import { longestTokenSecondsOf } from '../../../constructs/control-plane/api-server/token-lifetime.ts';
import type { KubeObject } from '../../kube/object.ts';

/** On the Secret of service account keys: what of tokens has to be known for longer than a process lives. */
export const tokensAnnotation = `${group}/service-account-tokens`;

/** What is known of the tokens that keys have signed. */
export interface TokenRecord {
  /** How long the longest token lives that is signed now. */
  readonly lifetimeSeconds: number;
  /** When the last of those expires that were signed while they were allowed to live longer; nothing when none were. */
  readonly earlierUntil?: Date | undefined;
  /** By id of a key that signs no more, when the last of its tokens expires. */
  readonly expiries: Readonly<Record<string, Date>>;
}

const Recorded = z.object({
  lifetimeSeconds: z.number().positive(),
  earlierUntil: z.coerce.date().optional(),
  expiries: z.record(z.string(), z.coerce.date()),
});

/** Clocks of API servers may be behind ours, and they are a minute lenient. */
const marginMs = 10 * 60_000;

/** What a Secret says. Where it says nothing, such as one of the user, tokens have lived as long as they do by default. */
export function readTokenRecord({ metadata }: KubeObject): TokenRecord {
  const none = { lifetimeSeconds: longestTokenSecondsOf(), expiries: {} };
  try {
    return Recorded.parse(JSON.parse(metadata.annotations?.[tokensAnnotation] ?? ''));
  } catch {
    return none;
  }
}

/** The annotation of keys that have signed nothing yet; none where tokens live as long as they do by default. */
export function firstTokenRecord(args: Readonly<Record<string, string>> | undefined): Record<string, string> {
  const lifetimeSeconds = longestTokenSecondsOf(args);
  return lifetimeSeconds === longestTokenSecondsOf() ? {} : formatTokenRecord({ lifetimeSeconds, expiries: {} });
}

export function formatTokenRecord(record: TokenRecord): Record<string, string> {
  return { [tokensAnnotation]: JSON.stringify(record satisfies z.input<typeof Recorded>) };
}

/** The record when API servers sign tokens of another length from now on; the same one when they do not. */
export function withLifetime(record: TokenRecord, lifetimeSeconds: number, now: Date): TokenRecord {
  if (lifetimeSeconds === record.lifetimeSeconds) return record;
  return { ...record, lifetimeSeconds, earlierUntil: lastExpiry(record, now) };
}

/** When the last token expires that has been signed until now. */
export function lastExpiry({ lifetimeSeconds, earlierUntil }: Omit<TokenRecord, 'expiries'>, now: Date): Date {
  const latest = now.getTime() + lifetimeSeconds * 1000 + marginMs;
  return new Date(Math.max(latest, earlierUntil?.getTime() ?? 0));
}
