import { afterAll, beforeAll, expect, test } from 'vitest';
import { ConfigMap, Deployment, Node, Pod, PodDisruptionBudget } from '../../../../constructs/api/resources.ts';
import type { KubeClient } from '../../../../reconciler/kube/client.ts';
import type { KubeObject } from '../../../../reconciler/kube/object.ts';
import { isReady } from '../../../../reconciler/kube/readiness.ts';
import { issuerFor } from '../../../cluster/reconciler/hosted-sign-in.ts';
import { borrow } from '../../../support/lent/borrow.ts';
import { until, untilReconciled } from '../../../support/until.ts';

interface DeploymentObject extends KubeObject {
  readonly spec: { readonly replicas: number };
}

const other = { fieldManager: 'somebody-else' };
const inSystem = (name: string) => ({ namespace: 'kube-system', name });
const coreDNS = inSystem('coredns');
const clusterInfo = { namespace: 'kube-public', name: 'cluster-info' };

const bench = borrow('plain', { restartsPods: true });
const { namespace } = bench;
const { configure, untilUser } = issuerFor(bench, 'c1');
let hosted: KubeClient;

const uids = async () =>
  (await bench.pods('c1', 'api-server'))
    .filter(({ metadata }) => !metadata.deletionTimestamp)
    .map(({ metadata }) => metadata.uid);

beforeAll(async () => {
  hosted = await bench.hosted('c1');
});
afterAll(async () => {
  await bench.undo();
  await hosted.connection.close();
});

test('add-ons are scaled to the number of nodes, and are reported when none of them runs', async () => {
  const replicas = async () => (await hosted.get<DeploymentObject>(Deployment, coreDNS)).spec.replicas;
  const { apiVersion, kind } = Node;
  const nodes = ['n1', 'n2'];
  expect(await replicas()).toBe(1);
  for (const name of nodes) await hosted.create({ apiVersion, kind, metadata: { name } }, other);
  await until('a second CoreDNS', async () => (await replicas()) === 2);

  // Nodes without a machine: nothing can run there, and nothing else is affected.
  await until('the message', async () => {
    const { message } = await bench.untilCondition('c1', 'WorkloadCoreDNSReady', { reason: 'WaitingForPods' });
    return message === 'Deployment kube-system/coredns: 0 of 2 pods available';
  });
  await bench.untilCondition('c1', 'WorkloadSetupReady', { status: 'True' });
  await bench.untilCondition('c1', 'Initialized', { status: 'True' });

  for (const name of nodes) await hosted.delete(Node, { name });
  await until('one CoreDNS again', async () => (await replicas()) === 1);
  await bench.untilReady('c1');
});

test('the operator writes nothing in the hosted cluster while nothing happens there', async () => {
  await bench.untilReady('c1');
  // Before any test ends a member of etcd: an API server ends watches up to half a minute later, one kind after the other.
  const { hostedRequests } = bench.operator;
  // What was rendered for more nodes is pruned after the status says Ready, by reconciles that have ended when another one is seen.
  await until('the budget of CoreDNS to be pruned', async () => !(await hosted.find(PodDisruptionBudget, coreDNS)));
  await bench.untilSeen('c1');
  const sent = hostedRequests.length;
  // The test is about this time.
  await new Promise((resolve) => setTimeout(resolve, 60_000));
  // A reconcile for another reason lists what is not watched.
  expect(hostedRequests.slice(sent).filter(({ verb }) => verb !== 'list')).toEqual([]);
});

test('the operator continues after the API server was killed', async () => {
  const pods = () => bench.pods('c1', 'api-server');
  const killed = await pods();
  for (const { metadata } of killed) {
    await bench.client.delete(Pod, { namespace, name: metadata.name }, { gracePeriodSeconds: 0 });
  }
  // By uid: the time without an API server may be over before it is observed.
  const uids = new Set(killed.map(({ metadata }) => metadata.uid));
  await until(
    'another API server',
    async () => {
      const now = await pods();
      return now.every(({ metadata }) => !uids.has(metadata.uid)) && now.some(isReady);
    },
    180_000,
  );
  await bench.untilReady('c1');
  // kube-proxy's rules for it follow shortly after it is Ready.
  await until('the API server to answer', () => hosted.raw('/readyz', { deadlineMs: 5_000 }).catch(() => false));
  await hosted.delete(ConfigMap, clusterInfo);
  await untilReconciled(bench, 'c1', 'cluster-info to be back', () => hosted.find(ConfigMap, clusterInfo));
  expect((await bench.get('c1')).status?.initialization?.controlPlaneInitialized).toBe(true);
});

test('token issuers that are refused are quoted, and API servers keep the last ones, also those that start later', async () => {
  await configure('"sso:" + claims.sub');
  await untilUser('sso:alice');
  await configure('claims.sub +');
  const { message } = await bench.untilCondition('c1', 'APIServerConfigurationAccepted', {
    reason: 'ConfigurationRefused',
  });
  expect(message).toMatch(/kube-apiserver v\S+ refuses it: .*claimMappings\.username\.expression.*claims\.sub \+/);
  const before = await uids();
  for (const { metadata } of await bench.pods('c1', 'api-server'))
    await bench.client.delete(Pod, { namespace, name: metadata.name });
  await until('another API server', async () => {
    const pods = await bench.pods('c1', 'api-server');
    return pods.some((pod) => isReady(pod) && !before.includes(pod.metadata.uid));
  });
  await untilUser('sso:alice');

  await bench.patch('c1', { spec: { deployment: { apiServer: { args: { nonsense: '1' } } } } });
  await configure('claims.sub');
  await bench.untilCondition('c1', 'APIServerConfigurationAccepted', { message: /unknown flag: --nonsense/ });
  await bench.patch('c1', { spec: { deployment: { apiServer: { args: null } } } });
  await untilUser('alice');
  await bench.untilReady('c1');
});
