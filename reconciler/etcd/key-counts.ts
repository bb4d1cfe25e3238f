import { z } from 'zod';

const count = z.int().nonnegative();

/** Number of keys in etcd, in total and by resource such as `/registry/secrets`. */
export const KeyCounts = z.object({ total: count, byResource: z.record(z.string(), count) });
export type KeyCounts = z.output<typeof KeyCounts>;

/** One read of keys at a fixed revision, from `start` to `end`, exclusive. */
export interface KeyRange {
  readonly start: Buffer;
  readonly end: Buffer;
  readonly what: 'firstKey' | 'count';
}

/** The result: the number of keys, and the first key if it was requested. */
interface KeyRangeAnswer {
  readonly count: number;
  readonly firstKey: Buffer | undefined;
}

/** Sorts after every key. To etcd, a zero byte as the end of a range means that the range is open. */
const open = Buffer.from([0]);

/** Far more resources than any cluster has, since each kind of each API group has one. */
const mostResources = 5_000;
/** The longest name of an API group and of a resource together have some 330 characters. */
const longestResource = 1_024;

/**
 * Counts keys by resource, with two small requests for each resource: it reads only the first key of each, whereas a list of all
 * keys makes etcd read all values too. Assumes `/registry` as the prefix of the API server. The image of etcd may be of any origin, and answer without end.
 * @throws the reason of the signal; a sentence if the answers are none of etcd
 */
export async function countKeysByResource(
  ask: (range: KeyRange) => Promise<KeyRangeAnswer>,
  signal?: AbortSignal,
): Promise<KeyCounts> {
  const counts = new Map<string, number>();
  let start: Buffer | undefined = open;
  for (let rounds = 0; start; rounds++) {
    signal?.throwIfAborted();
    if (rounds >= mostResources)
      throw new Error(`etcd has keys of more than ${mostResources} resources, which no cluster has: check its image`);
    const { firstKey } = await ask({ start, end: open, what: 'firstKey' });
    if (!firstKey) break;
    if (firstKey.compare(start) < 0 && start !== open)
      throw new Error('etcd answered with a key before the one that was asked for: check its image');
    const { resource, end } = rangeOf(firstKey);
    if (resource.length > longestResource)
      throw new Error(
        `etcd has a key of a resource with ${resource.length} characters, which no cluster has: check its image`,
      );
    const { count } = await ask({ start: firstKey, end: end ?? open, what: 'count' });
    counts.set(resource, (counts.get(resource) ?? 0) + count);
    start = end;
  }
  const byResource = Object.fromEntries([...counts].sort(([one], [other]) => (one < other ? -1 : 1)));
  return { total: [...counts.values()].reduce((sum, count) => sum + count, 0), byResource };
}

const kubernetes = Buffer.from('/registry/');

/**
 * The resource of a key, and the first key after those that certainly belong to it too; undefined if it covers all that
 * follow.
 */
function rangeOf(key: Buffer): { readonly resource: string; readonly end: Buffer | undefined } {
  const resource = resourceOfKey(key.toString('utf8'));
  if (resource === 'other') return { resource, end: key.compare(kubernetes) < 0 ? kubernetes : undefined };
  const folder = Buffer.from(`${resource}/`);
  const isInFolder = key.subarray(0, folder.length).equals(folder);
  // `0` follows `/`.
  return { resource, end: isInFolder ? Buffer.from(`${resource}0`) : Buffer.concat([key, open]) };
}

/**
 * `/registry/secrets` for `/registry/secrets/default/token`, with the API group if the key has one. Never contains
 * names of objects.
 */
export function resourceOfKey(key: string): string {
  const [empty, registry, first = '', second = ''] = key.split('/');
  if (empty !== '' || registry !== 'registry') return 'other';
  const hasTwoParts = first.includes('.') || first === 'services';
  return hasTwoParts ? `/registry/${first}/${second}` : `/registry/${first}`;
}
