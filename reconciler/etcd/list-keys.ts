import type { KeyVersion } from './key-changes.ts';

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
