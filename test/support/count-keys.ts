import { type KeyCounts, resourceOfKey } from '../../reconciler/etcd/key-counts.ts';

/** Number of keys, in total and by resource. The operator counts without a list of them. */
export function countKeys(keys: Iterable<string>): KeyCounts {
  const counts = new Map<string, number>();
  let total = 0;
  for (const key of keys) {
    const resource = resourceOfKey(key);
    counts.set(resource, (counts.get(resource) ?? 0) + 1);
    total += 1;
  }
  return { total, byResource: Object.fromEntries([...counts].sort(([one], [other]) => (one < other ? -1 : 1))) };
}
