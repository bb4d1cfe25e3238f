import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { PersistentVolumeClaim, Pod, StatefulSet } from '../../../constructs/api/resources.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { BackedUpCluster } from '../../support/loop/backed-up-cluster.ts';
import { type MemoryCluster } from '../../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { completeCluster, smallestSpec } from '../../support/loop/scenario.ts';
import { ObjectStoreServer } from '../../support/object-store-server.ts';
import { namespace } from '../../support/scope.ts';

let bucket: ObjectStoreServer;
let complete: MemoryCluster;
beforeAll(async () => {
  bucket = await ObjectStoreServer.start();
  complete = await completeCluster(smallestSpec);
});
afterAll(() => bucket.stop());

let cluster: MemoryCluster;
beforeEach(() => {
  cluster = complete.copy();
});

type Scaled = KubeObject & { readonly spec?: { readonly replicas?: number } };

const deleteClaim = ({ user }: MemoryCluster) =>
  user.delete(PersistentVolumeClaim, { namespace, name: 'etcd-data-c1-etcd-0' });

const uidOf = ({ objects }: MemoryCluster, resource: typeof Pod, name: string) =>
  objects.get(resource, name)?.metadata.uid;

/** Reconciles until a condition says this. */
async function untilSays({ cluster: managed, operator }: BackedUpCluster, type: string, start: string): Promise<void> {
  for (let round = 0; round < 20; round++) {
    await operator.reconcile();
    managed.settle();
    await operator.untilObserved();
    if (conditionIn(managed, type).startsWith(start)) return;
    await pause(50);
    await managed.clock.advance(1_000);
  }
  throw new Error(conditionIn(managed, type));
}

async function operate(managed: MemoryCluster, rounds = 6): Promise<void> {
  const operator = await OperatorProcess.start(managed);
  await operator.rounds(rounds);
  await operator.stop();
  expect(operator.errors).toEqual([]);
}

function conditionIn({ conditions }: MemoryCluster, type: string): string {
  const found = conditions.find((condition) => condition.type === type);
  return `${found?.status} ${found?.reason}: ${found?.message}`;
}

/** The member, and the volume with its data. */
const memberIn = (managed: MemoryCluster) => [
  uidOf(managed, Pod, 'c1-etcd-0'),
  uidOf(managed, PersistentVolumeClaim, 'etcd-data-c1-etcd-0'),
];

it('a deleted volume claim is told at once, with what saves its data', async () => {
  await deleteClaim(cluster);
  await operate(cluster, 1);
  expect(conditionIn(cluster, 'EtcdClusterReady')).toMatch(
    /False VolumesTerminating: .*etcd-data-c1-etcd-0 was deleted.*take a backup, and set etcd.replicas to 3/,
  );
});

it('the only member keeps its pod in spite of a new template, and gets it with another volume', async () => {
  await deleteClaim(cluster);
  await cluster.change({ etcd: { resources: { requests: { cpu: '300m' } } } });
  await operate(cluster);
  expect(memberIn(cluster)).toEqual(memberIn(complete));
  expect(conditionIn(cluster, 'EtcdClusterReady')).toContain('its data would end with its pod');
});

it('a hibernation is refused, and nothing stops', async () => {
  await deleteClaim(cluster);
  await cluster.change({ hibernate: true });
  await operate(cluster);
  expect(memberIn(cluster)).toEqual(memberIn(complete));
  expect(conditionIn(cluster, 'Awake')).toMatch(/^True HibernationRefused: .*etcd-data-c1-etcd-0/);
  expect(cluster.objects.get<Scaled>(StatefulSet, 'c1-etcd')?.spec?.replicas).toBe(1);
});

it('etcd runs on when the claim is deleted after the API servers have stopped for a hibernation', async () => {
  const site = await BackedUpCluster.start(bucket, 'a1', 0, { encryptionAtRest: { provider: 'None' } });
  await site.cluster.change({ hibernate: true });
  await untilSays(site, 'Awake', 'False');
  const before = site.cluster.copy();
  await deleteClaim(site.cluster);
  await untilSays(site, 'Awake', 'False HibernationRefused: the API servers have stopped');
  await site.operator.rounds(4);
  expect(memberIn(site.cluster)).toEqual(memberIn(before));
  await site.operator.stop();
});

it('a restore does not begin', async () => {
  const site = await BackedUpCluster.start(bucket, 'a1', 0, { encryptionAtRest: { provider: 'None' } });
  await site.backUp(0);
  await site.operator.untilSettled();
  const before = site.cluster.copy();
  await deleteClaim(site.cluster);
  await site.cluster.change({ etcd: { restore: { latest: true } } });
  await untilSays(site, 'EtcdRestoreReady', 'False VolumesTerminating');
  await site.operator.rounds(4);
  expect(memberIn(site.cluster)).toEqual(memberIn(before));
  expect(site.cluster.objects.list(Pod, {}).map(({ metadata }) => metadata.name)).toContain('c1-api-server-0');
  await site.operator.stop();
});
