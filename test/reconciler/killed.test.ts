import { expect, it } from 'vitest';
import { HostedControlPlane, Secret } from '../../constructs/api/resources.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';
import { completeCluster, everyCrash, expectSameAfter, orderedCluster } from '../support/loop/scenario.ts';
import { ourName, type MemoryCluster } from '../support/loop/memory-cluster.ts';

/** A control plane with one of everything: as many crashes as there are writes take a while. */
const small = {
  replicas: 1,
  etcd: { replicas: 1 },
  coredns: { disabled: true },
  kubeProxy: { disabled: true },
  konnectivityClient: { disabled: true },
  networkPolicy: 'Disabled',
};

/** What must never be made twice, as far as it is there. */
function keysIn(management: MemoryCluster): KubeObject[] {
  const made = ['c1-ca', 'c1-etcd', 'c1-proxy', 'c1-sa', 'c1-encryption'];
  return made.flatMap((name) => management.objects.get(Secret, name) ?? []);
}
const uidOf = ({ metadata }: KubeObject) => metadata.uid;

it('comes to the same control plane, with the keys it began with, when it dies at any write of a bring-up', async () => {
  const management = await orderedCluster(small);
  const crashes = await everyCrash(management);
  expect(crashes.length).toBeGreaterThan(30);
  const left = crashes.map((crash) => keysIn(crash.cluster));
  await expectSameAfter(crashes, management);
  for (const [index, crash] of crashes.entries()) {
    const before = left[index] ?? [];
    expect(keysIn(crash.cluster).map(uidOf)).toEqual(expect.arrayContaining(before.map(uidOf)));
  }
  // As many lives as there are writes take a busy machine a while.
}, 240_000);

it('comes to the same control plane when it dies at any write of an upgrade', async () => {
  const management = await completeCluster(small);
  await management.change({ version: 'v1.36.4', replicas: 2 });
  const crashes = await everyCrash(management);
  expect(crashes.length).toBeGreaterThan(5);
  await expectSameAfter(crashes, management);
});

it('comes to the same control plane when it dies at any write of a restart that a user asks for', async () => {
  const management = await completeCluster(small);
  await management.change({ rollout: { after: new Date(management.clock.now()).toISOString() } });
  const crashes = await everyCrash(management);
  expect(crashes.length).toBeGreaterThan(3);
  await expectSameAfter(crashes, management);
});

it.each([
  ['leaves as little behind', 'Delete'],
  ['keeps the same volumes', 'Retain'],
])('%s when it dies at any write of a deletion', async (_, volumeRetention) => {
  const management = await completeCluster({ ...small, etcd: { replicas: 1, volumeRetention } });
  await management.user.delete(HostedControlPlane, ourName);
  const crashes = await everyCrash(management);
  expect(crashes.length).toBeGreaterThan(20);
  await expectSameAfter(crashes, management);
});
