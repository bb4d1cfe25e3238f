import { afterAll, beforeAll, expect, test } from 'vitest';
import { formatEndpoint } from '../../constructs/cluster/facts.ts';
import { until } from '../support/until.ts';
import { addWorker, type Worker } from '../tools/testbed/workers.ts';
import { type JoinableCluster, openJoinableCluster } from '../cluster/workers/joinable-cluster.ts';
import { byEnvironment, byName, clientPod } from '../cluster/access/client-pod.ts';

const namespace = 'kubernetes-service';
const names = ['kubernetes.default.svc', 'kubernetes.default.svc.cluster.local'];
const defaultServiceAccount = 'system:serviceaccount:default:default';
const proxies = 'app.kubernetes.io/name=hosted-control-plane-service-proxy';
const condition = 'WorkloadKubernetesServiceReady';

let cluster: JoinableCluster;
let worker: Worker;
/** The EndpointSlices of the Service while it led to the load balancer. */
let before: readonly string[];
/** The addresses in them, and those in its Endpoints. */
let addressesBefore: readonly string[];

beforeAll(async () => {
  cluster = await openJoinableCluster(namespace);
  worker = await addWorker(cluster.instance, cluster.api);
  await cluster.apply(clientPod(cluster.instance, 'client', worker.name));
  await cluster.kubectl(['wait', 'pod/client', '--for=condition=Ready', '--timeout=180s']);
  await untilAnswered(byEnvironment);
  before = await slices();
  const endpoints = ['get', 'endpoints', 'kubernetes', '--output', 'jsonpath={.subsets[*].addresses[*].ip}'];
  addressesBefore = [await addressesInSlices(), await cluster.kubectl(endpoints)];
  await cluster.bench.patch('hosted', { spec: { inClusterAccess: 'Policy' } });
  await until(
    'another in-cluster access',
    async () => {
      const { metadata, status } = await cluster.bench.get('hosted');
      const ready = status?.conditions?.find(({ type }) => type === 'Ready');
      return ready?.status === 'True' && ready.observedGeneration === metadata.generation;
    },
    180_000,
  );
  await cluster.bench.untilCondition('hosted', condition, { status: 'True' });
});
afterAll(() => cluster?.close());

test('after a change from LoadBalancer to Policy the Service leads to proxies, and to no earlier address', async () => {
  expect(before).toEqual(['kubernetes']);
  const { host } = (await cluster.bench.get('hosted')).spec.controlPlaneEndpoint ?? {};
  expect(addressesBefore).toEqual([host, host]);
  await until('the EndpointSlice with the address of the load balancer to be gone', async () => {
    const left = await slices();
    return left.length === 1 && !left.includes('kubernetes');
  });
  const pods = ['get', 'pods', `--selector=${proxies}`, '--output', 'jsonpath={.items[*].status.podIP}'];
  expect(await addressesInSlices()).toBe(await cluster.kubectl(pods));
});

test.each(names)('a pod connects to the API server as %s, and gets its certificate', async (name) => {
  expect(await untilAnswered(byName(name))).toBe(defaultServiceAccount);
});

test('a pod of before the change, whose environment has the address of the Service, still connects', async () => {
  expect((await inPod('echo $KUBERNETES_SERVICE_HOST')).trim()).toBe('10.128.0.1');
  expect(await untilAnswered(byEnvironment)).toBe(defaultServiceAccount);
});

test('a pod discovers the issuer of its token and the keys at the endpoint', async () => {
  const { spec, status } = await cluster.bench.get('hosted');
  const { host = '', port = 0 } = spec.controlPlaneEndpoint ?? {};
  const endpoint = formatEndpoint({ host, port });
  const get = async (path: string) => JSON.parse(await inPod(`${byName(endpoint)} get --raw ${path}`)) as object;
  expect(await get('/.well-known/openid-configuration')).toMatchObject({
    issuer: status?.serviceAccountIssuer,
    jwks_uri: `https://${endpoint}/openid/v1/jwks`,
  });
  expect(status?.serviceAccountIssuer).toBe(`https://${endpoint}`);
  expect(await get('/openid/v1/jwks')).toMatchObject({ keys: [{ use: 'sig' }] });
});

test('the Service gets its selector again after somebody has deleted it', async () => {
  await cluster.kubectl(['delete', 'service', 'kubernetes', '--wait=false']);
  await until(
    'another Service to select the proxies',
    async () => {
      const path = 'jsonpath={.spec.selector}';
      return (await cluster.kubectl(['get', 'service', 'kubernetes', '--output', path]).catch(() => '')).includes(
        'proxy',
      );
    },
    120_000,
  );
  expect(await untilAnswered(byName('kubernetes.default.svc'))).toBe(defaultServiceAccount);
});

test('a quota that refuses the proxies is reported, and does not make the control plane unready', async () => {
  const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'none', namespace: 'default' } };
  await cluster.apply({ ...quota, spec: { hard: { pods: '0' } } });
  await cluster.kubectl(['delete', 'pods', `--selector=${proxies}`, '--wait=false']);
  const { message } = await cluster.bench.untilCondition('hosted', condition, {
    status: 'False',
    reason: 'PodsFailing',
  });
  expect(message).toMatch(/Deployment hosted-control-plane-service-proxy: .*exceeded quota: none/);
  const { status } = await cluster.bench.get('hosted');
  expect(status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({ status: 'True' });

  await cluster.kubectl(['delete', 'resourcequota', 'none']);
  await cluster.kubectl(['rollout', 'restart', 'deployment/hosted-control-plane-service-proxy']);
  await cluster.bench.untilCondition('hosted', condition, { status: 'True' });
});

const selected = ['get', 'endpointslices', '--selector=kubernetes.io/service-name=kubernetes'];

function addressesInSlices(): Promise<string> {
  return cluster.kubectl([...selected, '--output', 'jsonpath={.items[*].endpoints[*].addresses[*]}']);
}

/** Names of the EndpointSlices of the Service. */
async function slices(): Promise<string[]> {
  const found = await cluster.kubectl([...selected, '--output', 'jsonpath={.items[*].metadata.name}']);
  return found.split(' ').filter((name) => name !== '');
}

/** The user that the API server reports to the pod, once kube-proxy has written the rules of its node. */
function untilAnswered(command: string): Promise<string> {
  const ask = `timeout 10 ${command} auth whoami --output=jsonpath='{.status.userInfo.username}'`;
  return until('the API server to answer the pod', () => inPod(ask).catch(() => undefined), 120_000);
}

function inPod(script: string): Promise<string> {
  return cluster.kubectl(['exec', 'client', '--', 'sh', '-c', script]);
}
