import { describe, expect, it } from 'vitest';
import { countKeysByResource, type KeyRange, resourceOfKey } from '../../../reconciler/etcd/key-counts.ts';
import { countKeys } from '../../support/count-keys.ts';

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

describe('an etcd that answers without end', () => {
  const hostile = (keyOf: (asked: number, range: KeyRange) => string) => {
    const seen = { asked: 0 };
    const ask = async (range: KeyRange) => {
      seen.asked += 1;
      return { count: 1, firstKey: range.what === 'firstKey' ? Buffer.from(keyOf(seen.asked, range)) : undefined };
    };
    return { seen, ask };
  };
  const numbered = (number: number) => `/registry/r${String(number).padStart(9, '0')}/k`;

  it.each<[string, (asked: number, range: KeyRange) => string, string]>([
    ['with another resource each time', numbered, 'keys of more than 5000 resources'],
    [
      'with one key of a resource after the other',
      (asked) => `/registry/r${'x'.repeat(asked % 900)}`,
      'before the one',
    ],
    ['with the same key', () => '/registry/a/k', 'before the one that was asked for'],
    ['with one long resource', () => `/registry/${'x'.repeat(1 << 20)}/k`, 'a resource with 1048586 characters'],
  ])('%s is left', async (_, keyOf, message) => {
    const { seen, ask } = hostile(keyOf);
    await expect(countKeysByResource(ask)).rejects.toThrow(message);
    expect(seen.asked).toBeLessThanOrEqual(10_000);
  });

  it('is left when the task ends', async () => {
    const controller = new AbortController();
    const { seen, ask } = hostile((asked) => {
      if (asked === 101) controller.abort(new Error('the control plane was deleted'));
      return numbered(asked);
    });
    await expect(countKeysByResource(ask, controller.signal)).rejects.toThrow('the control plane was deleted');
    expect(seen.asked).toBe(102);
  });
});
