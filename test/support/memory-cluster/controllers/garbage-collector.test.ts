import { expect, it } from 'vitest';
import { ConfigMap } from '../../../../constructs/api/resources.ts';
import type { KubeObject } from '../../../../reconciler/kube/object.ts';
import { MemoryApiServer } from '../api-server.ts';
import { collectGarbage } from './garbage-collector.ts';

const namespace = 'team';

/** An API server with a Namespace, and a function that creates a ConfigMap with owners in it. */
function server() {
  const memory = new MemoryApiServer(() => 0);
  memory.store.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  const make = (name: string, owners: readonly KubeObject[], finalizers: readonly string[] = []): KubeObject => {
    const ownerReferences = owners.map(({ apiVersion, kind, metadata }) => {
      return { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '' };
    });
    const metadata = { name, namespace, ownerReferences, finalizers };
    return memory.create(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata }, { fieldManager: 'us' });
  };
  const names = () => memory.store.list(ConfigMap).map(({ metadata }) => metadata.name);
  return { memory, make, names };
}

it('the garbage collector deletes an object whose only owner is gone, and its dependents, but not one that has another owner', () => {
  const { memory, make, names } = server();
  const [one, other] = [make('owner', []), make('other', [])];
  const child = make('child', [one]);
  make('grandchild', [child]);
  make('shared', [one, other]);
  make('free', []);
  memory.delete(ConfigMap, one.metadata, {});
  collectGarbage(memory);
  expect(names()).toEqual(['free', 'other', 'shared']);
});

it('the garbage collector identifies the owner by its uid: an object of the same name does not keep the dependents', () => {
  const { memory, make, names } = server();
  const owner = make('owner', []);
  make('child', [owner]);
  memory.delete(ConfigMap, owner.metadata, {});
  make('owner', []);
  collectGarbage(memory);
  expect(names()).toEqual(['owner']);
});

it('the garbage collector waits for the finalizers of the objects it deletes', () => {
  const { memory, make, names } = server();
  const owner = make('owner', []);
  make('child', [owner], ['example.org/mine']);
  memory.delete(ConfigMap, owner.metadata, {});
  collectGarbage(memory);
  expect(names()).toEqual(['child']);
  expect(memory.find(ConfigMap, { namespace, name: 'child' })?.metadata.deletionTimestamp).toBeDefined();
});
