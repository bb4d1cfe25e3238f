import { expect, it } from 'vitest';
import { HostedControlPlane, Secret, StatefulSet } from '../../constructs/api/resources.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';
import { completeCluster, everyCrash, expectSameAfter, orderedCluster } from '../support/loop/scenario.ts';
import { ourName, type MemoryCluster } from '../support/loop/memory-cluster.ts';

/** A control plane with one replica of everything: a scenario for each write takes a while. */
const small = {
  replicas: 1,
  etcd: { replicas: 1 },
  coredns: { disabled: true },
  kubeProxy: { disabled: true },
  konnectivityClient: { disabled: true },
  networkPolicy: 'Disabled',
};

/** Uids of the objects that must never be created twice, if they exist. */
function keysIn(management: MemoryCluster): KubeObject[] {
  const made = ['c1-ca', 'c1-etcd', 'c1-proxy', 'c1-sa', 'c1-encryption'];
  return made.flatMap((name) => management.objects.get(Secret, name) ?? []);
}
const uidOf = ({ metadata }: KubeObject) => metadata.uid;

it('an operator that crashes at any write of a bring-up leads to the same control plane with the same keys', async () => {
  const management = await orderedCluster(small);
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

it.each([
  ['patch release', 'v1.36.4', '3.6.8'],
  ['minor version, with that of etcd at last,', 'v1.37.1', '3.7.0'],
])(
  'an operator that crashes at any write of an upgrade to a %s leads to the same control plane',
  async (_, version, etcd) => {
    const management = await completeCluster(small);
    await management.change({ version, replicas: 2 });
    const crashes = await everyCrash(management);
    expect(crashes.length).toBeGreaterThan(5);
    expect(JSON.stringify(management.objects.get(StatefulSet, 'c1-etcd'))).toContain(`etcd:${etcd}-0`);
    expect(management.hostedControlPlane).toMatchObject({ status: { version } });
    await expectSameAfter(crashes, management);
  },
);

it('an operator that crashes at any write of a restart that a user requests leads to the same control plane', async () => {
  const management = await completeCluster(small);
  await management.change({ rollout: { after: new Date(management.clock.now()).toISOString() } });
  const crashes = await everyCrash(management);
  expect(crashes.length).toBeGreaterThan(3);
  await expectSameAfter(crashes, management);
});

it.each([
  ['deletes the same objects', 'Delete'],
  ['keeps the same volumes', 'Retain'],
])('an operator that crashes at any write of a deletion %s', async (_, volumeRetention) => {
  const management = await completeCluster({ ...small, etcd: { replicas: 1, volumeRetention } });
  await management.user.delete(HostedControlPlane, ourName);
  const crashes = await everyCrash(management);
  expect(crashes.length).toBeGreaterThan(20);
  await expectSameAfter(crashes, management);
});
