import { createHash, randomBytes } from 'node:crypto';
import { stringify } from 'yaml';
import { z } from 'zod';
import { parseYaml } from '../kube/yaml.ts';

/** The provider that stores Secrets unencrypted. As a provider that only reads, it reads such Secrets. */
export const identity = 'identity';

/** A key, with its name, which prefixes all data that it encrypts. */
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

/** The file for kube-apiserver. Each key is a separate provider, so that `identity` may be between two of them. */
export function formatConfiguration(providers: readonly Provider[]): string {
  return stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [{ resources: ['secrets'], providers: providers.map(formatProvider) }],
  });
}

/** The providers in a file of the operator; undefined for other files, whose content must not be printed. */
export function parseConfiguration(text: string): Provider[] | undefined {
  const found = Configuration.safeParse(parseYaml(text));
  if (!found.success) return undefined;
  const [{ providers }] = found.data.resources;
  return providers.flatMap((provider): Provider[] => ('secretbox' in provider ? provider.secretbox.keys : [identity]));
}

export function formatKeys(keys: readonly Key[]): string {
  return stringify(keys);
}

/** The stored keys; none in text that {@link formatKeys} did not write. */
export function parseKeys(text: string): Key[] {
  return Keys.safeParse(parseYaml(text)).data ?? [];
}

/**
 * The ID with which an API server reports its loaded configuration. Safe to show: nothing can be derived from it,
 * because a configuration with a key contains 32 random bytes.
 */
export function configurationHash(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

/**
 * Creates a key, named after its creation time, which is later than that of all existing keys: no backup of another
 * time may contain Secrets under the name of a key that did not encrypt them.
 */
export function newKey(now: Date, keys: readonly string[]): Key {
  const made = Math.max(now.getTime(), ...keys.map((name) => madeAt(name) + 1));
  return { name: `key-${made}`, secret: randomBytes(32).toString('base64') };
}

/** When a key was created, in milliseconds since the epoch; before all others for a key with another name format. */
export function madeAt(key: string): number {
  return Number(/^key-(\d{1,15})$/.exec(key)?.[1] ?? -1);
}

export function nameOf(provider: Provider): string {
  return provider === identity ? identity : provider.name;
}

function formatProvider(provider: Provider): object {
  return provider === identity ? { identity: {} } : { secretbox: { keys: [provider] } };
}
