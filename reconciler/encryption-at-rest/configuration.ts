import { createHash, randomBytes } from 'node:crypto';
import { parse, stringify } from 'yaml';
import { z } from 'zod';

/** What stores Secrets in clear; as a provider that only reads, what reads those that are stored so. */
export const identity = 'identity';

/** A key, by the name that stands in front of everything that is stored under it. */
export interface Key {
  readonly name: string;
  /** 32 bytes in base64. */
  readonly secret: string;
}

/** How Secrets are stored: the first provider writes, all of them read. */
export type Provider = typeof identity | Key;

const Secretbox = z.strictObject({
  secretbox: z.strictObject({ keys: z.array(z.strictObject({ name: z.string(), secret: z.string() })).min(1) }),
});
const Identity = z.strictObject({ identity: z.strictObject({}) });

const Configuration = z.object({
  kind: z.literal('EncryptionConfiguration'),
  resources: z.tuple([
    z.object({
      resources: z.tuple([z.literal('secrets')]),
      providers: z.array(z.union([Secretbox, Identity])).min(1),
    }),
  ]),
});

const Keys = z.array(z.strictObject({ name: z.string(), secret: z.string() }));

/** The file that kube-apiserver reads. Each key is a provider of its own, so that `identity` may stand between two. */
export function formatConfiguration(providers: readonly Provider[]): string {
  return stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [{ resources: ['secrets'], providers: providers.map(formatProvider) }],
  });
}

/** The providers in a file of ours; undefined when it is none, of which nothing may be said aloud. */
export function parseConfiguration(text: string): Provider[] | undefined {
  const found = Configuration.safeParse(parsed(text));
  if (!found.success) return undefined;
  const [{ providers }] = found.data.resources;
  return providers.flatMap((provider): Provider[] => ('secretbox' in provider ? provider.secretbox.keys : [identity]));
}

export function formatKeys(keys: readonly Key[]): string {
  return stringify(keys);
}

/** Keys that are kept; none in a text that is not what {@link formatKeys} makes. */
export function parseKeys(text: string): Key[] {
  return Keys.safeParse(parsed(text)).data ?? [];
}

/**
 * What an API server calls the configuration it has loaded. Safe to show: nothing can be derived from it, because
 * whatever has a key in it has 32 random bytes in it.
 */
export function configurationHash(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

/**
 * A key that never was, named after the time it was made, later than all keys there are: no backup of another time may
 * hold Secrets under the name of a key that is not theirs.
 */
export function newKey(now: Date, keys: readonly string[]): Key {
  const made = Math.max(now.getTime(), ...keys.map((name) => madeAt(name) + 1));
  return { name: `key-${made}`, secret: randomBytes(32).toString('base64') };
}

/** When a key was made, in milliseconds since the epoch; before all others for a key with a foreign name. */
export function madeAt(key: string): number {
  return Number(/^key-(\d{1,15})$/.exec(key)?.[1] ?? -1);
}

export function nameOf(provider: Provider): string {
  return provider === identity ? identity : provider.name;
}

function formatProvider(provider: Provider): object {
  return provider === identity ? { identity: {} } : { secretbox: { keys: [provider] } };
}

function parsed(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}
