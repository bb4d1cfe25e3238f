import type { StructuralSchema } from '../../../constructs/api/structural.ts';

/** A number from 0 to 1, as Math.random, but repeatable. */
export type Random = () => number;

/** Mulberry32: the same numbers for the same seed. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function oneOf<T>(random: Random, values: readonly T[]): T {
  const value = values[Math.floor(random() * values.length)];
  if (value === undefined) throw new Error('there is nothing to choose from');
  return value;
}

/** Valid texts for the fields whose schema says more than that they are texts, by the end of their path. */
const texts: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^version$/, ['v1.36.3', 'v1.35.2', '1.34.1', 'v1.33.4', 'v1.32.0-rc.1+build.1']],
  [/^etcd\.version$/, ['3.6.8', '3.6.9', 'v3.5.26-0', '3.7.1']],
  [/^etcd\.image\.tag$/, ['3.6.8-hardened', '3.6.9-hardened', 'stable']],
  [/Duration$|maxAge$/, ['2160h', '4320h', '1h30m', '8760h']],
  [/schedule$/, ['30 2 * * *', '@daily', '*/15 6-22 * * 1-5']],
  [/timeZone$/, ['Europe/Berlin', 'America/New_York']],
  [/(Host|apiHost|certSANs\.\d+|nodePort\.address)$/, ['a.example.org', 'b.example.org', 'c.example.org']],
  [/loadBalancerIP$/, ['192.0.2.10', '192.0.2.11']],
  [/SourceRanges\.\d+$/, ['192.0.2.0/24', '198.51.100.0/24', '2001:db8::/32']],
  [/mounts\.[^.]*\.path$/, ['/extra', '/more/files']],
  [/(after|before)$/, ['2026-11-20T00:00:00Z', '2026-11-21T00:00:00Z', '2036-01-01T00:00:00+02:00']],
  [/restore\.backup$|acceptDataLossTo$/, ['2026-11-21T02-30-00.000Z-4711', '2026-11-20T02-30-00.000Z-4700']],
  [/^serviceAccountIssuer\.issuer$/, ['https://tokens.example.org', 'https://others.example.org/c1']],
  [/(server|URL)$/, ['https://a.example.org/', 'https://b.example.org/']],
  [/certificateAuthority$/, ['-----BEGIN CERTIFICATE-----\none', '-----BEGIN CERTIFICATE-----\ntwo']],
  [/issuerRef\.kind$/, ['Issuer', 'ClusterIssuer']],
  [/resources\.(limits|requests)\.[^.]*$/, ['1', '500m', '2Gi', '1.5']],
  [/olumeSize$/, ['8Gi', '16Gi', '10Gi']],
  [/args\.[^.]*$/, ['2', '4', '', 'a=b,c=d', 'true']],
  [/priorityClassName$/, ['system-cluster-critical', 'system-node-critical']],
  [/nodeAffinity\..*\.values\.\d+$/, ['1', '2']],
  [/(topologyKey|matchExpressions\.\d+\.key|tolerations\.\d+\.key)$/, ['example.org/rack', 'example.org/room']],
  [/^imageRegistry$/, ['mirror.example.org', 'mirror.example.org:5000/a']],
  [/env\.\d+\.name$/, ['HTTPS_PROXY', 'GOMEMLIMIT', 'NO_PROXY']],
  [/corefile$/, ['.:53 { whoami }', '.:53 { errors }']],
];

/** Keys of maps, by the end of the path of the map. */
const keys: readonly (readonly [RegExp, readonly string[]])[] = [
  [/args$/, ['v', 'event-ttl', 'profiling', 'feature-gates']],
  [/mounts$/, ['extra', 'more']],
  [/oidcProviders$/, ['https://issuer.example.org', 'https://other.example.org']],
  [/(limits|requests)$/, ['cpu', 'memory', 'ephemeral-storage']],
  [/./, ['example.org/a', 'example.org/b']],
];

function listed(table: typeof texts, path: string): readonly string[] | undefined {
  return table.find(([end]) => end.test(path))?.[1];
}

/** Keys that a map may have. */
export function keysOf(path: string): readonly string[] {
  return listed(keys, path) ?? [];
}

/** Valid values of a field without fields of its own. */
export function valuesOf(schema: StructuralSchema, path: string): readonly unknown[] {
  if (schema.enum) return schema.enum;
  if (schema.type === 'boolean') return [true, false];
  if (schema.type === 'integer') {
    const least = Math.max(schema.minimum ?? 0, 1);
    return [...new Set([least + 1, least + 2, Math.min(schema.maximum ?? least + 3, least + 3)])];
  }
  const known = listed(texts, path);
  if (known) return known;
  if (schema['x-kubernetes-int-or-string']) return ['8Gi', '16Gi', 4_294_967_296];
  return schema.type === 'string' ? ['one', 'two'] : [{}];
}

export interface SampleOptions {
  readonly random: Random;
  /** How often an optional field is set, from 0 to 1. */
  readonly share: number;
  /** What else a field may get, valid or not. */
  readonly strange?: (schema: StructuralSchema, path: string) => { readonly value: unknown } | undefined;
}

/** A value of a schema, at this path below the spec. */
export function sampleOf(schema: StructuralSchema, path: string, options: SampleOptions): unknown {
  const { random, share, strange } = options;
  const odd = strange?.(schema, path);
  if (odd) return odd.value;
  const below = (name: string | number) => (path ? `${path}.${name}` : String(name));
  if (schema.items) {
    const { items } = schema;
    const length = Math.max(schema.minItems ?? 0, Math.floor(random() * 3));
    return Array.from({ length }, (_, index) => sampleOf(items, below(index), options));
  }
  if (schema.additionalProperties) {
    const { additionalProperties } = schema;
    const chosen = keysOf(path).filter(() => random() < 0.5);
    return Object.fromEntries(chosen.map((key) => [key, sampleOf(additionalProperties, below(key), options)]));
  }
  if (schema.properties) {
    const fields = Object.entries(schema.properties).filter(
      ([name]) => schema.required?.includes(name) || random() < share,
    );
    return Object.fromEntries(fields.map(([name, field]) => [name, sampleOf(field, below(name), options)]));
  }
  return oneOf(random, valuesOf(schema, path));
}
