import { expect, it } from 'vitest';
import { type KeyPage, type KeyPageAnswer, listKeys } from '../../../reconciler/etcd/key-changes.ts';

const all = ['/registry/a', '/registry/b', '/registry/c'].map((key, index) => ({
  key: Buffer.from(key),
  create_revision: String(index + 1),
  mod_revision: String(index + 10),
}));

/** An etcd with these keys, of which it gives two at a time. */
async function answer({ start }: KeyPage) {
  const left = all.filter(({ key }) => key.compare(start) >= 0);
  return { kvs: left.slice(0, 2), more: left.length > 2 };
}

async function pagesOf(etcd: (page: KeyPage) => Promise<KeyPageAnswer>) {
  const pages = [];
  for await (const page of listKeys(etcd)) pages.push(page);
  return pages;
}

it('keys are listed a page after the other, each key once', async () => {
  expect(await pagesOf(answer)).toEqual([
    [
      { key: '/registry/a', created: 1, changed: 10 },
      { key: '/registry/b', created: 2, changed: 11 },
    ],
    [{ key: '/registry/c', created: 3, changed: 12 }],
  ]);
});

it('an etcd without keys has one empty page', async () => {
  expect(await pagesOf(() => Promise.resolve({ kvs: [], more: false }))).toEqual([[]]);
});
