import { beforeEach, describe, expect, it } from 'vitest';
import { NamespaceRooms } from '../../../../reconciler/clusters/management/namespace-rooms.ts';

const mebibyte = 1024 * 1024;
const limits = { ownBytes: 2 * mebibyte, sharedBytes: 4 * mebibyte };
const informer = {};

let crowded: string[];
let rooms: NamespaceRooms;
beforeEach(() => {
  crowded = [];
  rooms = new NamespaceRooms(limits, (namespace) => crowded.push(namespace));
});

const object = (namespace: string, name: string, mebibytes: number) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace, name },
  data: { text: 'x'.repeat(mebibytes * mebibyte - 4096) },
});

/** How many objects of a mebibyte the namespace gets. */
function fill(namespace: string, most = 20): number {
  const names = Array.from({ length: most }, (_, index) => `${namespace}-${index}`);
  return names.filter((name) => rooms.add(informer, object(namespace, name, 1))).length;
}

describe('the room of a namespace', () => {
  it('is its own, and three quarters of what others have left of the room for all', () => {
    expect(fill('hostile')).toBe(5);
    expect(rooms.roomOf('good')).toBeCloseTo(2.75 * mebibyte, -5);
    expect(fill('good')).toBe(2);
    expect(crowded).toEqual(['hostile', 'good']);
  });

  it('is enough for a namespace that needs no more than its own, whatever others create', () => {
    fill('hostile');
    expect(fill('good', 2)).toBe(2);
    expect(rooms.problemOf('good')).toBeUndefined();
  });

  it('that is crowded has a problem that says what was given, and what is left out', () => {
    fill('hostile');
    expect(rooms.problemOf('hostile')).toBe(
      'objects of control planes in this namespace need more memory of the operator than the 5 MiB that it may have: ConfigMap hostile/hostile-5, which needs 1 MiB, is left out. Delete what no control plane needs',
    );
  });

  it('holds a new state in the place of the old one', () => {
    const before = object('a', 'x', 1);
    rooms.add(informer, before);
    expect(rooms.add(informer, object('a', 'x', 5), before)).toBe(true);
    expect(fill('a')).toBe(0);
  });

  it('lets what has become smaller in, also when it is crowded', () => {
    const large = object('a', 'x', 5);
    rooms.add(informer, large);
    fill('a');
    expect(rooms.add(informer, object('a', 'x', 1), large)).toBe(true);
  });

  it('has what is deleted back', () => {
    const large = object('a', 'x', 5);
    rooms.add(informer, large);
    rooms.remove(informer, large);
    expect(fill('a')).toBe(5);
  });

  it('counts a list that is given up for nothing, and one that is complete once', () => {
    const listing = {};
    const listed = [object('a', 'x', 1), object('a', 'y', 1)];
    for (const one of listed) rooms.addListed(listing, one);
    rooms.clear(listing);
    for (const one of listed) rooms.addListed(listing, one);
    rooms.clear(listing);
    rooms.set(informer, listed);
    expect(fill('a')).toBe(3);
  });

  it('counts what a list replaces no second time', () => {
    const before = [object('a', 'x', 2), object('a', 'y', 2)];
    rooms.set(informer, before);
    const again = [object('a', 'x', 2), object('a', 'y', 2)];
    expect(again.map((one, index) => rooms.addListed({}, one, before[index]))).toEqual([true, true]);
  });

  it('holds objects without a namespace', () => {
    expect(rooms.add(informer, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', labels: { x: 'y' } } })).toBe(
      true,
    );
  });

  it('is open again only when a whole list has left nothing out', () => {
    fill('a');
    rooms.begin();
    fill('a', 1);
    expect(rooms.end()).toEqual([]);
    expect(rooms.problemOf('a')).toContain('a/a-0');
    rooms.begin();
    rooms.set(informer, [object('a', 'x', 1)]);
    expect(rooms.problemOf('a')).toContain('a/a-0');
    expect(rooms.end()).toEqual(['a']);
    expect(rooms.problemOf('a')).toBeUndefined();
  });
});
