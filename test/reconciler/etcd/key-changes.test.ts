import { expect, it } from 'vitest';
import { changesSince, type KeyVersion } from '../../../reconciler/etcd/key-changes.ts';
import { countKeys } from '../../support/count-keys.ts';

const revision = 100;
const key = (name: string, created: number, changed = created): KeyVersion => ({
  key: `/registry/${name}`,
  created,
  changed,
});

async function* pages(...all: readonly (readonly KeyVersion[])[]) {
  yield* all;
}

async function changes(before: readonly string[], ...now: readonly (readonly KeyVersion[])[]) {
  const keys = countKeys(before.map((name) => `/registry/${name}`));
  return Object.fromEntries(await changesSince({ revision, keys }, pages(...now)));
}

it.each<[string, Awaited<ReturnType<typeof changes>>, object]>([
  ['nothing changes', await changes(['pods/a/x'], [key('pods/a/x', 7, 100)]), {}],
  ['a key is written', await changes(['pods/a/x'], [key('pods/a/x', 7, 101)]), { changed: 1 }],
  ['a key is created', await changes(['pods/a/x'], [key('pods/a/x', 7), key('pods/a/y', 101, 109)]), { created: 1 }],
  ['a key is deleted', await changes(['pods/a/x', 'pods/a/y'], [key('pods/a/x', 7)]), { deleted: 1 }],
  ['all keys are deleted', await changes(['pods/a/x', 'pods/a/y'], []), { deleted: 2 }],
  ['a key is created again', await changes(['pods/a/x'], [key('pods/a/x', 101)]), { created: 1, deleted: 1 }],
  ['pages follow each other', await changes([], [key('pods/a/x', 101)], [key('pods/a/y', 102)]), { created: 2 }],
])('since a backup %s', (_, found, expected) => {
  const all = { created: 0, changed: 0, deleted: 0, ...expected };
  expect(found).toEqual(Object.keys(expected).length === 0 ? {} : { '/registry/pods': all });
});

it('changes are counted for each resource, in the order of their names', async () => {
  const found = await changes(['secrets/a/x', 'leases/a/x'], [key('secrets/a/x', 7, 101), key('pods/a/x', 101)]);
  expect(Object.keys(found)).toEqual(['/registry/leases', '/registry/pods', '/registry/secrets']);
});
