import type { Overlay } from '../api/overlay-spec.ts';
import { definedOnly } from '../cluster/defined-only.ts';

/** Additions of a user; a daemon has no fields for what a scheduler decides. */
export type Additions = Partial<Overlay>;

/**
 * Several additions as one, the least specific ones first. Entries of maps and lists add up; among those with the same key the
 * most specific one wins.
 */
export function combined(additions: readonly (Additions | undefined)[]): Additions {
  const all = additions.filter((one) => one !== undefined);
  const listOf = <F extends 'env' | 'imagePullSecrets' | 'tolerations' | 'topologySpreadConstraints'>(field: F) =>
    all.flatMap((one) => (one[field] ?? []) as NonNullable<Additions[F]>[number][]);
  return unlessEmpty({
    labels: Object.assign({}, ...all.map((one) => one.labels)),
    annotations: Object.assign({}, ...all.map((one) => one.annotations)),
    nodeSelector: Object.assign({}, ...all.map((one) => one.nodeSelector)),
    affinity: Object.assign({}, ...all.map((one) => definedOnly(one.affinity ?? {}))),
    env: byKey(listOf('env'), ({ name }) => name),
    imagePullSecrets: byKey(listOf('imagePullSecrets'), ({ name }) => name),
    tolerations: byKey(listOf('tolerations').map(definedOnly), tolerationKey),
    topologySpreadConstraints: byKey(listOf('topologySpreadConstraints'), ({ topologyKey }) => topologyKey),
    ...definedOnly({ priorityClassName: all.findLast((one) => one.priorityClassName)?.priorityClassName }),
  });
}

/** What makes two tolerations the same one. */
export function tolerationKey(toleration: {
  readonly key?: string | undefined;
  readonly operator?: string | undefined;
  readonly value?: string | undefined;
  readonly effect?: string | undefined;
}): string {
  const { key, operator = 'Equal', value, effect } = toleration;
  return JSON.stringify([key, operator, value, effect]);
}

/** The last entry with each key, at the place of the first one. */
export function byKey<T>(entries: readonly T[], keyOf: (entry: T) => string): T[] {
  return [...new Map(entries.map((entry) => [keyOf(entry), entry])).values()];
}

/** The maps and lists that have entries. */
export function unlessEmpty<T extends object>(parts: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(parts).filter(([, part]: [string, object | string]) => Object.keys(part).length > 0),
  ) as Partial<T>;
}
