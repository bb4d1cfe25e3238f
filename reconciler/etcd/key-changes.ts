import { type KeyCounts, resourceOfKey } from './key-counts.ts';

/** A key with the revisions that created it and wrote it last. */
export interface KeyVersion {
  readonly key: string;
  readonly created: number;
  readonly changed: number;
}

/** What has become of the keys of one resource since a revision. */
export interface KeyChanges {
  /** Keys that exist now, and were created since. */
  readonly created: number;
  /** Keys that existed then, exist now, and were written since. */
  readonly changed: number;
  /** Keys that existed then and were deleted since. One that was created again counts among the created ones, too. */
  readonly deleted: number;
}

/** The state to compare with. */
interface EarlierKeys {
  readonly revision: number;
  readonly keys: KeyCounts;
}

/**
 * Compares all keys of now with the number of keys at an earlier revision of the same etcd. What was created and deleted in
 * between leaves no trace.
 * @returns the resources with changes, by name, such as `/registry/pods`
 */
export async function changesSince(
  { revision, keys: before }: EarlierKeys,
  pages: AsyncIterable<readonly KeyVersion[]>,
): Promise<ReadonlyMap<string, KeyChanges>> {
  const now = new Map<string, { total: number; created: number; changed: number }>();
  for await (const page of pages) {
    for (const { key, created, changed } of page) {
      const resource = resourceOfKey(key);
      const counts = now.get(resource) ?? { total: 0, created: 0, changed: 0 };
      counts.total += 1;
      if (created > revision) counts.created += 1;
      else if (changed > revision) counts.changed += 1;
      now.set(resource, counts);
    }
  }
  const resources = [...new Set([...Object.keys(before.byResource), ...now.keys()])].sort();
  const all = resources.map((resource): [string, KeyChanges] => {
    const { total, created, changed } = now.get(resource) ?? { total: 0, created: 0, changed: 0 };
    const deleted = Math.max(0, (before.byResource[resource] ?? 0) + created - total);
    return [resource, { created, changed, deleted }];
  });
  return new Map(all.filter(([, { created, changed, deleted }]) => created + changed + deleted > 0));
}

/** One read of keys, from `start` to `end`, exclusive, and no more than `limit`. */
export interface KeyPage {
  readonly start: Buffer;
  readonly end: Buffer;
  readonly limit: number;
}

/** The result, in etcd's own names. */
export interface KeyPageAnswer {
  readonly kvs: readonly { readonly key: Buffer; readonly create_revision: string; readonly mod_revision: string }[];
  readonly more: boolean;
}

/** Keys in one answer: some hundred KiB. */
const keysInPage = 5_000;

/** Sorts before every key. To etcd, a zero byte as the end of a range means that the range is open. */
const zero = Buffer.from([0]);

/** Lists all keys, a page at a time. */
export async function* listKeys(ask: (page: KeyPage) => Promise<KeyPageAnswer>): AsyncGenerator<readonly KeyVersion[]> {
  let start: Buffer | undefined = zero;
  while (start) {
    const { kvs, more }: KeyPageAnswer = await ask({ start, end: zero, limit: keysInPage });
    yield kvs.map(({ key, create_revision: created, mod_revision: changed }) => ({
      key: key.toString('utf8'),
      created: Number(created),
      changed: Number(changed),
    }));
    const last = kvs.at(-1)?.key;
    start = more && last ? Buffer.concat([last, zero]) : undefined;
  }
}
