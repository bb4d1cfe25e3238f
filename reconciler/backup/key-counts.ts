import type { Manifest } from './manifest.ts';

/** How many keys there are, in all and by resource. The API server's prefix is taken to be `/registry`. */
export function countKeys(keys: Iterable<string>): Manifest['keys'] {
  const counts = new Map<string, number>();
  let total = 0;
  for (const key of keys) {
    const resource = resourceOfKey(key);
    counts.set(resource, (counts.get(resource) ?? 0) + 1);
    total += 1;
  }
  return { total, byResource: Object.fromEntries([...counts].sort(([one], [other]) => (one < other ? -1 : 1))) };
}

/**
 * `/registry/secrets` of `/registry/secrets/default/token`, with the API group where the key has one. Names of objects
 * never get into it.
 */
export function resourceOfKey(key: string): string {
  const [empty, registry, first = '', second = ''] = key.split('/');
  if (empty !== '' || registry !== 'registry') return 'other';
  const hasTwoParts = first.includes('.') || first === 'services';
  return hasTwoParts ? `/registry/${first}/${second}` : `/registry/${first}`;
}
