import { resourceOfKey } from '../backup/key-counts.ts';
import type { Manifest } from '../backup/manifest.ts';

/** One read of keys at a fixed revision: from `start` up to, and without, `end`. */
export interface KeyRange {
  readonly start: Buffer;
  readonly end: Buffer;
  readonly what: 'FirstKey' | 'Count';
}

/** What it found: how many keys there are, and the first of them when it was asked for. */
export interface KeyRangeAnswer {
  readonly count: number;
  readonly firstKey: Buffer | undefined;
}

/** What sorts after every key. To etcd a zero byte as the end of a range means that there is none. */
const open = Buffer.from([0]);

/**
 * Counts keys by resource as `countKeys` does, by two small questions for each resource: no key but the first of each is
 * read, whereas a list of all keys makes etcd read all values too.
 */
export async function countKeysByResource(
  ask: (range: KeyRange) => Promise<KeyRangeAnswer>,
): Promise<Manifest['keys']> {
  const counts = new Map<string, number>();
  let start: Buffer | undefined = open;
  while (start) {
    const { firstKey } = await ask({ start, end: open, what: 'FirstKey' });
    if (!firstKey) break;
    const { resource, end } = rangeOf(firstKey);
    const { count } = await ask({ start: firstKey, end: end ?? open, what: 'Count' });
    counts.set(resource, (counts.get(resource) ?? 0) + count);
    start = end;
  }
  const byResource = Object.fromEntries([...counts].sort(([one], [other]) => (one < other ? -1 : 1)));
  return { total: [...counts.values()].reduce((sum, count) => sum + count, 0), byResource };
}

const kubernetes = Buffer.from('/registry/');

/** The resource of a key, and the first key after those that certainly are of it too; undefined for all that follow. */
function rangeOf(key: Buffer): { readonly resource: string; readonly end: Buffer | undefined } {
  const resource = resourceOfKey(key.toString('utf8'));
  if (resource === 'other') return { resource, end: key.compare(kubernetes) < 0 ? kubernetes : undefined };
  const folder = Buffer.from(`${resource}/`);
  const isInFolder = key.subarray(0, folder.length).equals(folder);
  // `0` is what follows `/`.
  return { resource, end: isInFolder ? Buffer.from(`${resource}0`) : Buffer.concat([key, open]) };
}
