import { beforeAll, expect, it } from 'vitest';
import { Pod, Secret, StatefulSet } from '../../../constructs/api/resources.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import { EtcdCares } from '../../../reconciler/etcd/loop.ts';
import type { EtcdTask } from '../../../reconciler/etcd/reconcile-etcd.ts';
import { memoryWorldOf } from '../../support/loop/memory-world-of.ts';
import { completeWorld } from '../../support/loop/scenario.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import type { MemoryWorld } from '../../support/memory-world.ts';
import { clusterName, namespace } from '../../support/scope.ts';

const key = `${namespace}/c1-cp`;
let complete: MemoryWorld;
beforeAll(async () => {
  complete = memoryWorldOf(await completeWorld());
  // Members without pods are known not to answer at once.
  for (const object of complete.list(StatefulSet, {})) complete.remove(object);
  for (const pod of complete.list(Pod, selectorLabels(clusterName, 'etcd'))) complete.remove(pod);
});

function care(world: MemoryWorld) {
  const told: string[] = [];
  const clock = new ManualClock();
  const cares = new EtcdCares({ clock, onChange: (changed) => told.push(changed) });
  const task = (replicas: number): EtcdTask => ({
    cluster: { name: clusterName, namespace },
    goal: { replicas, revision: 'new', cause: 'Asked', quotaBytes: 1 },
    world,
    writer: world,
  });
  return { cares, clock, told, task, one: cares.of(key) };
}

it('hands its first report to the pass that asked, and tells when another says something else', async () => {
  const { cares, one, task, told } = care(complete.copy());
  expect(one.report()).toBeUndefined();
  const first = await one.look(task(3));
  expect(first).toMatchObject({ isCurrent: true, decision: { kind: 'Wait', message: 'no etcd member answers' } });
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
  const world = complete.copy();
  const { cares, clock, one, task, told } = care(world);
  await one.look(task(3));
  for (let count = 0; count < 5; count++) await clock.advance(60_000);
  expect(world.writes).toEqual([]);
  expect(told).toEqual([key]);
  await cares.close();
});

it('leaves a cluster alone that it is told to, and knows nothing of it then', async () => {
  const { one, task } = care(complete.copy());
  await one.look(task(3));
  await one.stop();
  expect(one.report()).toBeUndefined();
  expect(await one.look(task(3))).toMatchObject({ isCurrent: true });
  await one.stop();
});

it('says why it cannot look any more, and what it saw last', async () => {
  const world = complete.copy();
  const { cares, clock, one, task, told } = care(world);
  await one.look(task(3));
  for (const secret of world.list(Secret, {})) if (secret.metadata.name === 'c1-etcd-controller') world.remove(secret);
  await clock.advance(60_000);
  expect(one.report()).toMatchObject({
    decision: { kind: 'Wait' },
    problem: 'Secret c1-etcd or c1-etcd-controller is gone again',
  });
  expect(told).toEqual([key, key]);
  await cares.close();
});

it('looks every half minute at the least, however long nothing has changed', async () => {
  const world = complete.copy();
  const { cares, clock, one, task } = care(world);
  await one.look(task(3));
  for (let minutes = 0; minutes < 30; minutes++) await clock.advance(60_000);
  for (const secret of world.list(Secret, {})) if (secret.metadata.name === 'c1-etcd-controller') world.remove(secret);
  await clock.advance(30_000);
  expect(one.report()?.problem).toBe('Secret c1-etcd or c1-etcd-controller is gone again');
  await cares.close();
});
