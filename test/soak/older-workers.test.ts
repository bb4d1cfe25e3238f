import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { expectServes } from '../cluster/workers/expect-serves.ts';
import { type JoinableCluster, openJoinableCluster } from '../cluster/workers/joinable-cluster.ts';
import { kubernetesVersion, single } from '../support/workbench.ts';
import { addMinor } from '../tools/testbed/further-minor.ts';
import { instanceFrom } from '../tools/testbed/instance.ts';
import { addWorker } from '../tools/testbed/workers.ts';

// Kubernetes lets a kubelet be three minors older than its API server, and Cluster API upgrades workers after the control plane.
const instance = instanceFrom(process.env, inject('testbed'));
let cluster: JoinableCluster;

beforeAll(async () => {
  cluster = await openJoinableCluster('older-workers', { ...single, exposure: { loadBalancer: {} } });
});
afterAll(() => cluster?.close());

test.each(['1.36', '1.35', '1.34'])(
  'a worker of %s joins a control plane of the newest minor with its own kubeadm, and serves',
  async (minor) => {
    const { kubelet, equip } = await addMinor(instance, minor, (line) => console.log(line));
    expect((await cluster.bench.get('hosted')).status?.version).toBe(kubernetesVersion);
    const worker = await addWorker(instance, cluster.api, undefined, { equip });
    await expectServes(cluster, worker, kubelet);
  },
);
