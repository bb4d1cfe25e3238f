import { describe, expect, it } from 'vitest';
import { ObjectCache } from '../../../reconciler/kube/object-cache.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';

const object = (name: string, resourceVersion: string, cluster?: string, uid = name): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'ns', name, uid, resourceVersion, ...(cluster ? { labels: { cluster } } : {}) },
});

describe('ObjectCache', () => {
  it('distinguishes additions, updates and deletions, and ignores a version that it already has', () => {
    const cache = new ObjectCache([]);
    const [first, second] = [object('a', '1'), object('a', '2')];
    expect(cache.put(first)).toEqual({ type: 'added', object: first });
    expect(cache.put(object('a', '1'))).toBeUndefined();
    expect(cache.put(second)).toEqual({ type: 'updated', object: second, old: first });
    expect(cache.remove({ namespace: 'ns', name: 'a' })).toEqual({ type: 'deleted', object: second });
    expect(cache.remove({ namespace: 'ns', name: 'a' })).toBeUndefined();
  });

  it('reports the state in a deletion event, which is newer than the cached one', () => {
    const cache = new ObjectCache([]);
    cache.put(object('a', '1'));
    const last = object('a', '5');
    expect(cache.remove(last.metadata, last)).toEqual({ type: 'deleted', object: last });
  });

  it('reports the changes between the cache and a list', () => {
    const cache = new ObjectCache([]);
    for (const name of ['gone', 'same', 'changed']) cache.put(object(name, '1'));
    const changes = cache.replace([object('same', '1'), object('changed', '2'), object('new', '3')]);
    expect(changes.map(({ type, object }) => [type, object.metadata.name])).toEqual([
      ['deleted', 'gone'],
      ['updated', 'changed'],
      ['added', 'new'],
    ]);
    expect(cache.size).toBe(3);
  });

  it('finds objects by their current labels', () => {
    const cache = new ObjectCache(['cluster']);
    cache.put(object('a', '1', 'one'));
    cache.put(object('b', '1', 'one'));
    cache.put(object('c', '1'));
    const names = (value: string) => cache.byLabel('cluster', value, 'ns').map(({ metadata }) => metadata.name);
    expect(names('one')).toEqual(['a', 'b']);
    cache.put(object('a', '2', 'two'));
    cache.put(object('c', '2', 'two'));
    cache.remove({ namespace: 'ns', name: 'b' });
    expect(names('one')).toEqual([]);
    expect(names('two')).toEqual(['a', 'c']);
  });

  it('finds those of one namespace only, although others have the same label', () => {
    const cache = new ObjectCache(['cluster']);
    const other = object('a', '1', 'one');
    cache.put({ ...other, metadata: { ...other.metadata, namespace: 'other' } });
    cache.put({ ...other, metadata: { ...other.metadata, namespace: undefined } });
    expect(cache.byLabel('cluster', 'one', 'ns')).toEqual([]);
    cache.put(other);
    expect(cache.byLabel('cluster', 'one', 'ns')).toEqual([other]);
    cache.remove(other.metadata);
    expect(cache.byLabel('cluster', 'one', 'ns')).toEqual([]);
    expect(cache.byLabel('cluster', 'one', 'other')).toHaveLength(1);
    expect(cache.byLabel('cluster', 'one', undefined)).toHaveLength(1);
  });

  it('refuses to search by a label that it does not index', () => {
    expect(() => new ObjectCache([]).byLabel('cluster', 'one', 'ns')).toThrow('label cluster is not indexed');
  });
});
