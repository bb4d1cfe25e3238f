import { isIPv4 } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CertificateSigningRequest } from '../../../constructs/api/resources.ts';
import { until } from '../../support/until.ts';
import { aggregatedAnswer, aggregatedApi, aggregatedPath } from './aggregated-api.ts';
import { borrowJoinableCluster, type JoinedWorker, type LentCluster } from './joinable-cluster.ts';
import { nodeCertificateRequest, requestAsNode } from './node-certificate-request.ts';
import { startWebServer, webServer, webService } from './web-server.ts';

let cluster: LentCluster;
let workers: readonly [JoinedWorker, JoinedWorker];

beforeAll(async () => {
  cluster = await borrowJoinableCluster();
  ({ workers } = cluster);
});
afterAll(() => cluster?.close());

test('two workers that join at the same time are both Ready nodes', async () => {
  const path = '{range .items[*]}{.metadata.name}={.status.conditions[?(@.type=="Ready")].status} {end}';
  const nodes = await cluster.kubectl(['get', 'nodes', '--output', `jsonpath=${path}`]);
  expect(nodes.trim().split(' ').toSorted()).toEqual(workers.map(({ name }) => `${name}=True`).toSorted());
});

test('every node has its own pod network, for CNIs that use it', async () => {
  const networks = await until('networks of two nodes', async () => {
    const nodes = await cluster.kubectl(['get', 'nodes', '--output', 'jsonpath={.items[*].spec.podCIDR}']);
    return nodes.split(' ').length === 2 && nodes.split(' ');
  });
  expect(new Set(networks).size).toBe(2);
  for (const network of networks) expect(network).toMatch(/^10\.244\.\d+\.0\/24$/);
});

describe('a web server of two replicas, one on each node, behind a Service', () => {
  let pods: readonly string[];
  beforeAll(async () => {
    pods = await startWebServer(cluster);
  });
  afterAll(() => cluster.remove(webService, webServer));

  test('a pod reaches the replica on the other node by the DNS name of the Service', async () => {
    const [pod = ''] = pods;
    const answers = new Set<string>();
    await until('answers from both nodes', async () => {
      // Each node's rules are written when its kube-proxy has received the Service.
      const page = inPod(pod, 'timeout 3 wget -qO- http://web.default.svc.cluster.local/');
      const answer = await page.catch(() => undefined);
      if (answer !== undefined) answers.add(answer);
      return answers.size === 2;
    });
    expect([...answers].map((answer) => answer.trim()).toSorted()).toEqual(workers.map(({ name }) => name).toSorted());
  });

  test('a pod resolves names of the cluster', async () => {
    const [pod = ''] = pods;
    for (const name of ['web.default.svc.cluster.local', 'kubernetes.default.svc.cluster.local']) {
      const answer = await inPod(pod, `nslookup ${name}`);
      expect(isIPv4(/Name:\s+\S+\s+Address: (\S+)/.exec(answer)?.[1] ?? '')).toBe(true);
    }
  });

  test('kubectl prints the log of every replica', async () => {
    for (const pod of pods) expect(await cluster.kubectl(['logs', pod])).toContain('serving on');
  });

  test('kubectl runs a command in every replica', async () => {
    const nodes = await Promise.all(pods.map((pod) => inPod(pod, 'cat /www/index.html')));
    expect(nodes.map((node) => node.trim()).toSorted()).toEqual(workers.map(({ name }) => name).toSorted());
  });
});

test('the API server reaches an aggregated API that a pod serves, through konnectivity', async () => {
  const objects = await aggregatedApi();
  await cluster.apply(...objects);
  const available = ['wait', 'apiservice/v1.weather.example.org', '--for=condition=Available', '--timeout=180s'];
  await cluster.kubectl(available);
  // One node that reaches it makes it available; the next request may use the other one.
  const ask = () => cluster.kubectl(['get', '--raw', aggregatedPath]).catch(() => undefined);
  expect(JSON.parse(await until('its answer', ask))).toEqual(JSON.parse(aggregatedAnswer));
  await cluster.remove(...objects.toReversed());
});

describe('a node that requests a certificate with its own', () => {
  const name = 'own-name';
  afterAll(() => cluster.api.client.delete(CertificateSigningRequest, { name }));

  test("gets one for its own name, as in a kubelet's renewal", async () => {
    const [worker] = workers;
    await requestAsNode(worker.machine, await nodeCertificateRequest(name, worker.name));
    await cluster.kubectl(['wait', `csr/${name}`, '--for=condition=Approved', '--timeout=180s']);
    const issued = ['wait', `csr/${name}`, '--for=jsonpath={.status.certificate}', '--timeout=180s'];
    await expect(cluster.kubectl(issued)).resolves.toContain('condition met');
  });

  test('gets none for the name of another node', async () => {
    const [worker, other] = workers;
    const request = await nodeCertificateRequest('other-name', other.name);
    await expect(requestAsNode(worker.machine, request)).rejects.toThrow(/is forbidden: .*system:node/);
  });

  test('may not approve requests other than its own renewal', async () => {
    const [worker] = workers;
    const asNode = ['--as', `system:node:${worker.name}`, '--as-group', 'system:nodes'];
    const may = (subresource: string) =>
      cluster
        .kubectl(['auth', 'can-i', 'create', 'certificatesigningrequests', `--subresource=${subresource}`, ...asNode])
        .catch((error: unknown) => String(error));
    expect((await may('selfnodeclient')).trim()).toBe('yes');
    expect(await may('nodeclient')).toContain('exit code 1');
  });
});

function inPod(pod: string, script: string): Promise<string> {
  return cluster.kubectl(['exec', pod, '--', 'sh', '-c', script]);
}
