import { expect, it } from 'vitest';
import { countKeys, resourceOfKey } from '../../../reconciler/etcd/key-counts.ts';

it.each([
  ['/registry/secrets/default/token', '/registry/secrets'],
  ['/registry/namespaces/default', '/registry/namespaces'],
  ['/registry/services/specs/default/kubernetes', '/registry/services/specs'],
  ['/registry/services/endpoints/default/kubernetes', '/registry/services/endpoints'],
  ['/registry/cilium.io/ciliumnodes/worker', '/registry/cilium.io/ciliumnodes'],
  ['compact_rev_key', 'other'],
  ['/somebody/else', 'other'],
])('the resource of %s is %s', (key, expected) => {
  expect(resourceOfKey(key)).toBe(expected);
});

it('counts keys in all and by resource, in the same order whatever order they come in', () => {
  const keys = ['/registry/secrets/a/b', '/registry/pods/a/b', 'compact_rev_key', '/registry/secrets/a/c'];
  const expected = { total: 4, byResource: { '/registry/pods': 1, '/registry/secrets': 2, other: 1 } };
  expect(countKeys(keys)).toEqual(expected);
  expect(JSON.stringify(countKeys(keys.toReversed()))).toBe(JSON.stringify(countKeys(keys)));
});
