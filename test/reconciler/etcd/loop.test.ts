import type { StatefulSetObject } from '../../../imports/kubernetes.ts';
import { beforeAll, expect, it } from 'vitest';
import { PersistentVolumeClaim, Pod, Secret, StatefulSet } from '../../../constructs/api/resources.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import { EtcdLoops } from '../../../reconciler/etcd/loop.ts';
import type { LoopMemberClient } from '../../../reconciler/etcd/observe-members.ts';
import type { OpenEtcd } from '../../../reconciler/etcd/access.ts';
import type { EtcdTask } from '../../../reconciler/etcd/reconcile-etcd.ts';
import { presentRevision } from '../../../reconciler/kube/readiness.ts';
import { MemoryEtcd } from '../../support/loop/memory-etcd.ts';
import { memoryClusterOf } from '../../support/loop/memory-cluster-of.ts';
import { completeCluster } from '../../support/loop/scenario.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';
import type { MemoryObjects } from '../../support/memory-objects.ts';
import { clusterName, namespace } from '../../support/scope.ts';

const key = `${namespace}/c1-cp`;
let complete: MemoryObjects;
beforeAll(async () => {
  complete = memoryClusterOf(await completeCluster());
  // The operator knows without a request that members without pods do not answer.
  for (const object of complete.list(StatefulSet, {})) complete.remove(object);
  for (const pod of complete.list(Pod, selectorLabels(clusterName, 'etcd'))) complete.remove(pod);
});

function etcdLoop(management: MemoryObjects) {
  const changes: string[] = [];
  const clock = new ManualClock();
  const loops = new EtcdLoops({ clock, onChange: (changed) => changes.push(changed) });
  const task = (replicas: number): EtcdTask => ({
    cluster: { name: clusterName, namespace },
    goal: { replicas, revision: 'new', cause: 'requested', quotaBytes: 1 },
    isFormed: true,
    reader: management,
    writer: management,
  });
  return { loops, clock, changes, task, one: loops.of(key) };
}

it('the etcd loop returns its first report to the caller, and calls onChange when a later report differs', async () => {
  const { loops, one, task, changes } = etcdLoop(complete.copy());
  expect(one.report()).toBeUndefined();
  const first = await one.observe(task(3));
  expect(first).toMatchObject({ isCurrent: true, decision: { kind: 'wait', message: 'no etcd member answers' } });
  expect(first?.observation.members).toHaveLength(3);
  expect(changes).toEqual([key]);

  await one.observe(task(3));
  expect(changes).toEqual([key]);

  const other = await one.observe(task(5));
  expect(other).toMatchObject({ isCurrent: true });
  expect(other?.observation.members).toHaveLength(5);
  expect(changes).toEqual([key, key]);
  await loops.close();
});

it('the etcd loop writes nothing while no member answers, however often it runs', async () => {
  const management = complete.copy();
  const { loops, clock, one, task, changes } = etcdLoop(management);
  await one.observe(task(3));
  for (let count = 0; count < 5; count++) await clock.advance(60_000);
  expect(management.writes).toEqual([]);
  expect(changes).toEqual([key]);
  await loops.close();
});

it('a stopped etcd loop forgets its report', async () => {
  const { one, task } = etcdLoop(complete.copy());
  await one.observe(task(3));
  await one.stop();
  expect(one.report()).toBeUndefined();
  expect(await one.observe(task(3))).toMatchObject({ isCurrent: true });
  await one.stop();
});

it('the etcd loop reports why it cannot observe any more, and its last observation', async () => {
  const management = complete.copy();
  const { loops, clock, one, task, changes } = etcdLoop(management);
  await one.observe(task(3));
  for (const secret of management.list(Secret, {}))
    if (secret.metadata.name === 'c1-etcd-controller') management.remove(secret);
  await clock.advance(60_000);
  expect(one.report()).toMatchObject({
    decision: { kind: 'wait' },
    problem: 'Secret c1-etcd or c1-etcd-controller no longer exists',
  });
  expect(changes).toEqual([key, key]);
  await loops.close();
});

it('the etcd loop observes every half minute while members do not answer', async () => {
  const management = complete.copy();
  const { loops, clock, one, task } = etcdLoop(management);
  await one.observe(task(3));
  for (let minutes = 0; minutes < 30; minutes++) await clock.advance(60_000);
  for (const secret of management.list(Secret, {}))
    if (secret.metadata.name === 'c1-etcd-controller') management.remove(secret);
  await clock.advance(30_000);
  expect(one.report()?.problem).toBe('Secret c1-etcd or c1-etcd-controller no longer exists');
  await loops.close();
});

it.each<[string, (loops: EtcdLoops) => void]>([
  ['runs', () => {}],
  ['was forgotten', (loops) => void loops.forget(key)],
])('a step of an etcd loop that %s is waited for when the process ends', async (_, before) => {
  const management = complete.copy();
  const answer = Promise.withResolvers<never>();
  const client = { status: () => answer.promise, read: () => answer.promise };
  const loops = new EtcdLoops({
    clock: new ManualClock(),
    onChange: () => {},
    open: () => ({ clients: () => client as never, close: () => {} }),
  });
  const goal = { replicas: 3, revision: 'new', cause: 'requested', quotaBytes: 1 } as const;
  const task = {
    cluster: { name: clusterName, namespace },
    goal,
    isFormed: true,
    reader: management,
    writer: management,
  };
  void loops.of(key).observe(task);
  await settled();
  before(loops);
  let isClosed = false;
  const closed = loops.close().then(() => (isClosed = true));
  await settled();
  expect(isClosed).toBe(false);
  answer.reject(new Error('gone'));
  await closed;
});

it('the etcd loop rests ever longer while nothing changes, up to five minutes, and asks for the cluster version once', async () => {
  const management = memoryClusterOf(await completeCluster());
  const clock = new ManualClock();
  const claims = management.list(PersistentVolumeClaim, selectorLabels(clusterName, 'etcd'));
  const inMemory = new MemoryEtcd(claims.map(({ metadata }) => metadata.uid ?? '')).open(async () => {});
  const rounds: number[] = [];
  let versions = 0;
  let usedBytes = 10;
  let version = '3.6.16';
  const open: OpenEtcd<LoopMemberClient> = (cluster, reader) => {
    rounds.push(clock.now());
    const access = inMemory(cluster, reader);
    const clients = (name: string): LoopMemberClient | undefined => {
      const client = access.clients(name);
      const status = async () => {
        const answer = await client?.status();
        if (!answer) throw new Error('away');
        return {
          ...answer,
          status: { ...answer.status, version, dbSizeBytes: usedBytes, dbSizeInUseBytes: usedBytes },
        };
      };
      const clusterVersion = async () => {
        versions += 1;
        return '3.6.0';
      };
      return client && { ...client, status, clusterVersion };
    };
    return { ...access, clients };
  };
  const loops = new EtcdLoops({ clock, onChange: () => {}, open });
  const one = loops.of(key);
  const revision = presentRevision(management.get<StatefulSetObject>(StatefulSet, 'c1-etcd'));
  const task = (replicas: number): EtcdTask => ({
    cluster: { name: clusterName, namespace },
    goal: { replicas, revision, cause: 'requested', quotaBytes: 100 },
    isFormed: true,
    reader: management,
    writer: management,
  });
  /** Seconds between rounds in so many minutes. */
  const rests = async (minutes: number) => {
    rounds.splice(0, rounds.length - 1);
    for (let second = 0; second < minutes * 60; second++) await clock.advance(1_000);
    return rounds.slice(1).map((at, index) => Math.round((at - (rounds[index] ?? 0)) / 1_000));
  };
  await one.observe(task(3));
  const first = await rests(30);
  expect(one.report()?.decision).toMatchObject({ kind: 'settled' });
  expect(first.slice(0, 4)).toEqual([30, 60, 120, 240]);
  expect(new Set(first.slice(4))).toEqual(new Set([300]));
  expect(versions).toBe(1);

  // Filled by five percent of its quota since the last time: watched closely again.
  usedBytes = 17;
  expect((await rests(6)).slice(0, 2)).toEqual([300, 30]);
  // Nearly full: watched closely all the time.
  usedBytes = 80;
  expect(new Set((await rests(12)).slice(-5))).toEqual(new Set([30]));
  usedBytes = 10;
  await rests(30);

  // A change in the management cluster is seen at once.
  rounds.length = 0;
  void one.observe(task(5));
  await clock.advance(1);
  expect(rounds.length).toBeGreaterThan(0);

  // While members run another minor, the cluster version follows them at some time.
  version = '3.7.0';
  const asked = versions;
  void one.observe(task(3));
  await rests(10);
  expect(versions - asked).toBeGreaterThan(1);
  await loops.close();
});

it('the etcd loop reports when it last attempted a defragmentation, and when one succeeded', async () => {
  const management = memoryClusterOf(await completeCluster());
  const clock = new ManualClock();
  let isFragmented = true;
  let isBusy = true;
  const claims = management.list(PersistentVolumeClaim, selectorLabels(clusterName, 'etcd'));
  const inMemory = new MemoryEtcd(claims.map(({ metadata }) => metadata.uid ?? '')).open(async () => {});
  const fragmented = (client: LoopMemberClient): LoopMemberClient => ({
    ...client,
    status: async () => {
      const { status, alarms } = await client.status();
      return { status: { ...status, dbSizeBytes: 100, dbSizeInUseBytes: isFragmented ? 10 : 100 }, alarms };
    },
    defragment: async () => {
      if (isBusy) throw new Error('the member is busy');
      isFragmented = false;
    },
  });
  const open: OpenEtcd<LoopMemberClient> = (cluster, reader) => {
    const access = inMemory(cluster, reader);
    const clients = (name: string) => {
      const client = access.clients(name);
      return client && fragmented(client);
    };
    return { ...access, clients };
  };
  const loops = new EtcdLoops({ clock, onChange: () => {}, open });
  const one = loops.of(key);
  const revision = presentRevision(management.get<StatefulSetObject>(StatefulSet, 'c1-etcd'));
  await one.observe({
    cluster: { name: clusterName, namespace },
    goal: { replicas: 3, revision, cause: 'requested', quotaBytes: 100 },
    isFormed: true,
    reader: management,
    writer: management,
  });
  const began = new Date(clock.now());
  await clock.advance(1);
  expect(one.report()).toMatchObject({ problem: 'the member is busy', defragmentationAttemptedAt: began });
  expect(one.report()?.defragmentedAt).toBeUndefined();

  isBusy = false;
  await clock.advance(60_000);
  const { defragmentationAttemptedAt, defragmentedAt } = one.report() ?? {};
  expect(defragmentationAttemptedAt?.getTime()).toBeGreaterThan(began.getTime());
  expect(defragmentedAt).toEqual(defragmentationAttemptedAt);
  await loops.close();
});
