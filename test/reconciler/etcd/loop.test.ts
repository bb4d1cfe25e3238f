import { beforeAll, expect, it } from 'vitest';
import { Pod, Secret, StatefulSet } from '../../../constructs/api/resources.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import { EtcdLoops } from '../../../reconciler/etcd/loop.ts';
import type { EtcdTask } from '../../../reconciler/etcd/reconcile-etcd.ts';
import { memoryClusterOf } from '../../support/loop/memory-cluster-of.ts';
import { completeCluster } from '../../support/loop/scenario.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import type { MemoryObjects } from '../../support/memory-objects.ts';
import { clusterName, namespace } from '../../support/scope.ts';

const key = `${namespace}/c1-cp`;
let complete: MemoryObjects;
beforeAll(async () => {
  complete = memoryClusterOf(await completeCluster());
  // Members without pods are known not to answer at once.
  for (const object of complete.list(StatefulSet, {})) complete.remove(object);
  for (const pod of complete.list(Pod, selectorLabels(clusterName, 'etcd'))) complete.remove(pod);
});

function etcdLoop(management: MemoryObjects) {
  const told: string[] = [];
  const clock = new ManualClock();
  const cares = new EtcdLoops({ clock, onChange: (changed) => told.push(changed) });
  const task = (replicas: number): EtcdTask => ({
    cluster: { name: clusterName, namespace },
    goal: { replicas, revision: 'new', cause: 'requested', quotaBytes: 1 },
    reader: management,
    writer: management,
  });
  return { cares, clock, told, task, one: cares.of(key) };
}

it('hands its first report to the pass that asked, and tells when another says something else', async () => {
  const { cares, one, task, told } = etcdLoop(complete.copy());
  expect(one.report()).toBeUndefined();
  const first = await one.look(task(3));
  expect(first).toMatchObject({ isCurrent: true, decision: { kind: 'wait', message: 'no etcd member answers' } });
  expect(first?.observation.members).toHaveLength(3);
  expect(told).toEqual([key]);

  await one.look(task(3));
  expect(told).toEqual([key]);

  const other = await one.look(task(5));
  expect(other).toMatchObject({ isCurrent: true });
  expect(other?.observation.members).toHaveLength(5);
  expect(told).toEqual([key, key]);
  await cares.close();
});

it('writes nothing while nobody answers, however often it looks', async () => {
  const management = complete.copy();
  const { cares, clock, one, task, told } = etcdLoop(management);
  await one.look(task(3));
  for (let count = 0; count < 5; count++) await clock.advance(60_000);
  expect(management.writes).toEqual([]);
  expect(told).toEqual([key]);
  await cares.close();
});

it('leaves a cluster alone that it is told to, and knows nothing of it then', async () => {
  const { one, task } = etcdLoop(complete.copy());
  await one.look(task(3));
  await one.stop();
  expect(one.report()).toBeUndefined();
  expect(await one.look(task(3))).toMatchObject({ isCurrent: true });
  await one.stop();
});

it('says why it cannot look any more, and what it saw last', async () => {
  const management = complete.copy();
  const { cares, clock, one, task, told } = etcdLoop(management);
  await one.look(task(3));
  for (const secret of management.list(Secret, {}))
    if (secret.metadata.name === 'c1-etcd-controller') management.remove(secret);
  await clock.advance(60_000);
  expect(one.report()).toMatchObject({
    decision: { kind: 'wait' },
    problem: 'Secret c1-etcd or c1-etcd-controller no longer exists',
  });
  expect(told).toEqual([key, key]);
  await cares.close();
});

it('looks every half minute at the least, however long nothing has changed', async () => {
  const management = complete.copy();
  const { cares, clock, one, task } = etcdLoop(management);
  await one.look(task(3));
  for (let minutes = 0; minutes < 30; minutes++) await clock.advance(60_000);
  for (const secret of management.list(Secret, {}))
    if (secret.metadata.name === 'c1-etcd-controller') management.remove(secret);
  await clock.advance(30_000);
  expect(one.report()?.problem).toBe('Secret c1-etcd or c1-etcd-controller no longer exists');
  await cares.close();
});
