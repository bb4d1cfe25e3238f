import { expect, it } from 'vitest';
import { clusterNameLabel } from '../../../constructs/api/group.ts';
import { Cluster, Deployment, HostedControlPlane, Machine, Secret } from '../../../constructs/api/resources.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import {
  completeCluster,
  everyCrash,
  expectSameAfter,
  orderedCluster,
  smallestSpec,
  someRounds,
} from '../../support/loop/scenario.ts';
import { ourName, type MemoryCluster } from '../../support/loop/memory-cluster.ts';
import { clusterName, namespace } from '../../support/scope.ts';

/** Uids of the objects that must never be created twice, if they exist. */
function keysIn(management: MemoryCluster): KubeObject[] {
  const made = ['c1-ca', 'c1-etcd', 'c1-proxy', 'c1-sa', 'c1-encryption'];
  return made.flatMap((name) => management.objects.get(Secret, name) ?? []);
}
const uidOf = ({ metadata }: KubeObject) => metadata.uid;

it('an operator that crashes at any write of a bring-up leads to the same control plane with the same keys', async () => {
  const management = await orderedCluster(smallestSpec);
  const crashes = await everyCrash(management);
  expect(crashes.length).toBeGreaterThan(30);
  const left = crashes.map((crash) => keysIn(crash.cluster));
  await expectSameAfter(crashes, management);
  for (const [index, crash] of crashes.entries()) {
    const before = left[index] ?? [];
    expect(keysIn(crash.cluster).map(uidOf)).toEqual(expect.arrayContaining(before.map(uidOf)));
  }
  // One operator process per write takes a while on a busy machine.
}, 240_000);

it('an operator that crashes at any write of a restart that a user requests leads to the same control plane', async () => {
  const management = await completeCluster(smallestSpec);
  await management.change({ rollout: { after: new Date(management.clock.now()).toISOString() } });
  const crashes = await everyCrash(management);
  expect(crashes.length).toBeGreaterThan(3);
  await expectSameAfter(crashes, management);
});

it.each([
  ['deletes the same objects', 'Delete'],
  ['keeps the same volumes', 'Retain'],
])('an operator that crashes at any write of a deletion %s', async (_, volumeRetention) => {
  const management = await completeCluster({ ...smallestSpec, etcd: { replicas: 1, volumeRetention } });
  await management.user.delete(HostedControlPlane, ourName);
  const crashes = await everyCrash(management);
  expect(crashes.length).toBeGreaterThan(20);
  await expectSameAfter(crashes, management);
});

it('an operator that crashes at any write of a deletion that waits for a Machine keeps its API servers until it is gone', async () => {
  const management = await completeCluster(smallestSpec);
  const { apiVersion, kind } = Machine;
  const metadata = { namespace, name: 'worker', labels: { [clusterNameLabel]: clusterName } };
  await management.user.create({ apiVersion, kind, metadata, spec: { clusterName } }, { fieldManager: 'user' });
  await management.user.delete(HostedControlPlane, ourName);
  const waiting = await everyCrash(management, someRounds);
  expect(waiting.length).toBeGreaterThan(0);
  for (const { cluster } of [...waiting, { cluster: management }]) {
    expect(cluster.objects.get(Deployment, 'c1-api-server')).toBeDefined();
    await cluster.user.delete(Machine, metadata);
  }

  const going = await everyCrash(management);
  expect(going.length).toBeGreaterThan(20);
  expect(management.objects.get(HostedControlPlane, ourName.name)).toBeUndefined();
  await expectSameAfter([...waiting, ...going], management);
});

it('an operator that crashes at any write of a deletion whose Cluster is gone deletes the same objects', async () => {
  const management = await completeCluster(smallestSpec);
  await management.user.delete(Cluster, { namespace, name: clusterName });
  // as Kubernetes does with what the Cluster owned
  management.settle();
  expect(management.objects.get(Cluster, clusterName)).toBeUndefined();
  const crashes = await everyCrash(management);
  expect(crashes.length).toBeGreaterThan(20);
  expect(management.objects.get(HostedControlPlane, ourName.name)).toBeUndefined();
  await expectSameAfter(crashes, management);
});
