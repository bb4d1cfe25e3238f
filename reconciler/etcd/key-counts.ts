import { z } from 'zod';

const count = z.int().nonnegative();

/** How many keys an etcd has, in all and by resource such as `/registry/secrets`. */
export const KeyCounts = z.object({ total: count, byResource: z.record(z.string(), count) });
export type KeyCounts = z.output<typeof KeyCounts>;

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
export async function countKeysByResource(ask: (range: KeyRange) => Promise<KeyRangeAnswer>): Promise<KeyCounts> {
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

/** How many keys there are, in all and by resource. The API server's prefix is taken to be `/registry`. */
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
