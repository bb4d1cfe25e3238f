import { expect, it } from 'vitest';
import { ConfigMap, Deployment, Pod } from '../../../constructs/api/resources.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import type { Outcome } from '../../../reconciler/engine/outcome.ts';
import { apiServer } from '../../../reconciler/phases/api-server.ts';
import { settle } from '../../support/management-controllers.ts';
import { MemoryWorld, type StoredObject } from '../../support/memory-world.ts';
import { type ScopeChanges, scopeOf } from '../../support/scope.ts';

const facts = { endpoint: { host: '192.0.2.10', port: 6443 } };
const applied = 'apply Deployment c1-api-server';

const runIn = (world: MemoryWorld, changes: ScopeChanges = {}): Promise<Outcome> =>
  apiServer.run(scopeOf(world, { facts, ...changes }));

/** A world in which so many etcd members run. */
function withMembers(started: number): MemoryWorld {
  const world = new MemoryWorld();
  for (let ordinal = 0; ordinal < 3; ordinal++) {
    const state = ordinal < started ? { running: {} } : { waiting: {} };
    world.put({
      apiVersion: Pod.apiVersion,
      kind: Pod.kind,
      metadata: { name: `c1-etcd-${ordinal}`, labels: selectorLabels('c1', 'etcd') },
      status: { containerStatuses: [{ name: 'etcd', state }] },
    });
  }
  return world;
}

it.each<[number, object, boolean]>([
  [1, { kind: 'wait', reason: 'WaitingForEtcd', message: '1 of 3 etcd members have started' }, false],
  [2, { kind: 'wait', reason: 'WaitingForPods' }, true],
])('comes when a quorum of etcd has started: %d of 3', async (started, outcome, comes) => {
  const world = withMembers(started);
  expect(await runIn(world)).toMatchObject(outcome);
  expect(world.writes.includes(applied)).toBe(comes);
});

it('is looked after although etcd is ill, once it is there', async () => {
  const world = withMembers(3);
  await runIn(world);
  for (const pod of world.list(Pod, {})) world.remove(pod);
  world.writes.length = 0;
  await runIn(world, { spec: { version: 'v1.36.4' } });
  expect(world.writes).toContain(applied);
});

it('is done when all of it runs what the spec asks for, and not before', async () => {
  const world = withMembers(3);
  expect(await runIn(world)).toMatchObject({
    reason: 'WaitingForPods',
    message: expect.stringContaining('API server: ') as string,
  });
  settle(world);
  expect(await runIn(world)).toMatchObject({ kind: 'done' });
  expect(await runIn(world, { spec: { version: 'v1.36.4' } })).toMatchObject({
    kind: 'wait',
    reason: 'WaitingForPods',
  });
});

const mounts = (optional: boolean): ScopeChanges => ({
  spec: {
    deployment: { apiServer: { mounts: { policy: { path: '/etc/policy', configMap: { name: 'policy', optional } } } } },
  },
});
const policy = (text: string): StoredObject => ({
  apiVersion: ConfigMap.apiVersion,
  kind: ConfigMap.kind,
  metadata: { name: 'policy' },
  data: { text },
});

it('waits for what a user mounts, and looks again because no event tells', async () => {
  const world = withMembers(3);
  expect(await runIn(world, mounts(false))).toMatchObject({
    kind: 'wait',
    reason: 'MountMissing',
    message: 'the API server mounts ConfigMap/policy: create it',
    afterMs: 30_000,
  });
  expect(world.writes).toEqual([]);
  world.put(policy('one'));
  await runIn(world, mounts(false));
  expect(world.writes).toContain(applied);
});

it('does not wait for what is optional', async () => {
  const world = withMembers(3);
  await runIn(world, mounts(true));
  expect(world.writes).toContain(applied);
});

it.each<[string, StoredObject, boolean]>([
  ['replaces its pods when the content', policy('two'), true],
  [
    'does nothing when something else',
    { ...policy('one'), metadata: { name: 'policy', annotations: { touched: 'yes' } } },
    false,
  ],
])('%s of a mounted object changes', async (_, changed, replaces) => {
  const world = withMembers(3);
  world.put(policy('one'));
  await runIn(world, mounts(false));
  const before = world.get(Deployment, 'c1-api-server')?.metadata.generation ?? 0;
  world.put(changed);
  await runIn(world, mounts(false));
  expect(world.get(Deployment, 'c1-api-server')?.metadata.generation).toBe(before + (replaces ? 1 : 0));
});
