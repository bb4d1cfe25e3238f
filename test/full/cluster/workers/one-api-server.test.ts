import { afterAll, beforeAll, expect, test } from 'vitest';
import { Pod, ResourceQuota, Service } from '../../../../constructs/api/resources.ts';
import { namesOf } from '../../../../constructs/cluster/names.ts';
import { expectServes } from '../../../cluster/workers/expect-serves.ts';
import { type JoinableCluster, openJoinableCluster } from '../../../cluster/workers/joinable-cluster.ts';
import { untilAddOnRuns } from '../../../cluster/workers/web-server.ts';
import { single } from '../../../support/workbench.ts';
import { addWorker } from '../../../tools/testbed/workers.ts';

const namespace = 'one-api-server';

let cluster: JoinableCluster;

beforeAll(async () => {
  cluster = await openJoinableCluster(namespace);
  const { client } = cluster.bench;
  const { items } = await client.list(Pod, { namespace });
  const { apiVersion, kind } = ResourceQuota;
  // Room for what runs, and for no second API server.
  const spec = { hard: { pods: String(items.length) } };
  await client.create({ apiVersion, kind, metadata: { namespace, name: 'small' }, spec }, { fieldManager: 'test' });
  await cluster.bench.patch('hosted', { spec: { replicas: 2 } });
});
afterAll(() => cluster?.close());

test('a quota that has room for one API server of two is in the condition, and the other one serves', async () => {
  const { message } = await cluster.bench.untilCondition('hosted', 'APIServerDeploymentsReady', {
    status: 'False',
    message: /exceeded quota/,
  });
  expect(message).toContain('1 of 2 replicas');
  await cluster.bench.untilCondition('hosted', 'Available', { status: 'True' });
});

test('a worker joins meanwhile: its kubelet gets its certificates, its pods are reached, and add-ons run', async () => {
  const worker = await addWorker(cluster.instance, cluster.api);
  await expectServes(cluster, worker, single.version);
  for (const name of ['coredns', 'konnectivity-agent']) await untilAddOnRuns(cluster, name);
  await cluster.bench.untilCondition('hosted', 'WorkloadKubeletCertificatesReady', { status: 'True' });
  expect(await cluster.bench.condition('hosted', 'APIServerDeploymentsReady')).toMatchObject({ status: 'False' });
});

test('the second API server starts when the quota has room for it', async () => {
  await cluster.bench.client.delete(ResourceQuota, { namespace, name: 'small' });
  await cluster.bench.untilReady('hosted');
  expect((await cluster.bench.get('hosted')).status).toMatchObject({ replicas: 2, readyReplicas: 2 });
});

test('an API server that no agent reaches, because the load balancer is sticky, is named until one does', async () => {
  const { client } = cluster.bench;
  const service = { namespace, name: namesOf('hosted').apiService };
  const stick = (sessionAffinity: 'ClientIP' | 'None') =>
    client.mergePatch(Service, service, { spec: { sessionAffinity } }, { fieldManager: 'test' });
  const restartAgents = () =>
    cluster.kubectl(['--namespace', 'kube-system', 'delete', 'pods', '--selector=k8s-app=konnectivity-agent']);
  await stick('ClientIP');
  await restartAgents();
  const expected = { status: 'False', reason: 'APIServerWithoutAgent' } as const;
  const { message } = await cluster.bench.untilCondition('hosted', 'WorkloadKonnectivityReady', expected, 240_000);
  expect(message).toMatch(/^no konnectivity agent is connected to hosted-api-server-\S+,/);
  await stick('None');
  await restartAgents();
  await cluster.bench.untilCondition('hosted', 'WorkloadKonnectivityReady', { status: 'True' }, 240_000);
});
