import { isIPv4 } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../support/until.ts';
import { single } from '../../support/workbench.ts';
import { installAddon } from '../../testbed/addons.ts';
import { gatewayName } from '../../testbed/traefik-objects.ts';
import { addWorker, removeWorker, type Worker } from '../../testbed/workers.ts';
import { aggregatedAnswer, aggregatedApi, aggregatedPath } from './aggregated-api.ts';
import { type JoinableCluster, openJoinableCluster } from './joinable-cluster.ts';
import { nodeCertificateRequest, requestAsNode } from './node-certificate-request.ts';
import { forwardPort } from './port-forward.ts';
import { webServer, webService } from './web-server.ts';

let cluster: JoinableCluster;
let workers: readonly Worker[];

beforeAll(async () => {
  const behindGateway = { ...single, exposure: { gateway: gatewayName } };
  cluster = await openJoinableCluster('workers', behindGateway, (on) => installAddon(on, 'traefik', () => {}));
  const { instance, api } = cluster;
  workers = await Promise.all([addWorker(instance, api), addWorker(instance, api)]);
  for (const { name, readyAfterMs } of workers) {
    const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`;
    console.log(`${name}: Ready ${seconds(readyAfterMs.powerOn)} after power on, join ${seconds(readyAfterMs.join)}`);
  }
});
afterAll(() => cluster.close());

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

test('a removed worker is no node any more, and leaves nothing on the host', async () => {
  const { instance, api } = cluster;
  const { name } = await addWorker(instance, api, undefined, { name: 'brief' });
  // as administrators do: a pod of CoreDNS on a node that vanishes has no successor before a minute has passed
  await cluster.kubectl(['drain', name, '--ignore-daemonsets', '--delete-emptydir-data', '--timeout=60s']);
  expect(await removeWorker(instance, name)).toEqual([]);
  expect(await cluster.kubectl(['get', 'node', name, '--ignore-not-found'])).toBe('');
});

describe('a web server of two replicas, one on each node, behind a Service', () => {
  let pods: readonly string[];
  beforeAll(async () => {
    await cluster.apply(webServer, webService);
    await cluster.kubectl(['rollout', 'status', 'deployment/web', '--timeout=60s']);
    for (const name of ['coredns', 'konnectivity-agent']) await untilRolledOut(name);
    const names = ['get', 'pods', '--selector=app=web', '--output', 'jsonpath={.items[*].metadata.name}'];
    pods = (await cluster.kubectl(names)).split(' ');
    // Each kubelet serves once it has its serving certificate, and one may get it later than the other.
    for (const pod of pods) {
      const hasLog = () =>
        cluster.kubectl(['logs', pod]).then(
          () => true,
          () => false,
        );
      await until(`the kubelet of ${pod} to be reached`, hasLog);
    }
  });

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

  test('kubectl forwards a port to every replica', async () => {
    for (const pod of pods) {
      const forwarded = await forwardPort(cluster.instance, cluster.api, pod, 8080);
      try {
        const answer = await fetch(`http://127.0.0.1:${forwarded.port}/`);
        expect(workers.map(({ name }) => name)).toContain((await answer.text()).trim());
      } finally {
        await forwarded.close();
      }
    }
  });
});

test('the API server reaches an aggregated API that a pod serves, through konnectivity', async () => {
  await cluster.apply(...(await aggregatedApi()));
  const available = ['wait', 'apiservice/v1.weather.example.org', '--for=condition=Available', '--timeout=60s'];
  await cluster.kubectl(available);
  // One node that reaches it makes it available; the next request may use the other one.
  const ask = () => cluster.kubectl(['get', '--raw', aggregatedPath]).catch(() => undefined);
  expect(JSON.parse(await until('its answer', ask))).toEqual(JSON.parse(aggregatedAnswer));
});

test('without a konnectivity agent kubectl reports what is missing, and works again when it is back', async () => {
  await cluster.setPaused(true);
  await cluster.kubectl([...inSystem, 'scale', 'deployment/konnectivity-agent', '--replicas=0']);
  const logs = () => cluster.kubectl(['logs', 'deployment/web']);
  await until('logs to fail for want of an agent', () =>
    logs().then(
      () => false,
      (error: unknown) => String(error).includes('No agent available'),
    ),
  );
  await cluster.setPaused(false);
  await untilRolledOut('konnectivity-agent');
  expect(await until('logs to work', () => logs().catch(() => undefined))).toContain('serving on');
});

describe('a node that requests a certificate with its own', () => {
  test("gets one for its own name, as in a kubelet's renewal", async () => {
    const [worker] = workers;
    if (!worker) throw new Error('no worker');
    await requestAsNode(worker.machine, await nodeCertificateRequest('own-name', worker.name));
    await cluster.kubectl(['wait', 'csr/own-name', '--for=condition=Approved', '--timeout=60s']);
    const issued = ['wait', 'csr/own-name', '--for=jsonpath={.status.certificate}', '--timeout=60s'];
    await expect(cluster.kubectl(issued)).resolves.toContain('condition met');
  });

  test('gets none for the name of another node', async () => {
    const [worker, other] = workers;
    if (!worker || !other) throw new Error('no two workers');
    const request = await nodeCertificateRequest('other-name', other.name);
    await expect(requestAsNode(worker.machine, request)).rejects.toThrow(/is forbidden: .*system:node/);
  });

  test('may not approve requests other than its own renewal', async () => {
    const [worker] = workers;
    const asNode = ['--as', `system:node:${worker?.name}`, '--as-group', 'system:nodes'];
    const may = (subresource: string) =>
      cluster
        .kubectl(['auth', 'can-i', 'create', 'certificatesigningrequests', `--subresource=${subresource}`, ...asNode])
        .catch((error: unknown) => String(error));
    expect((await may('selfnodeclient')).trim()).toBe('yes');
    expect(await may('nodeclient')).toContain('exit code 1');
  });
});

async function untilRolledOut(deployment: string): Promise<void> {
  const isThere = async () =>
    (await cluster.kubectl([...inSystem, 'get', 'deployment', deployment, '--ignore-not-found'])) !== '';
  await until(`Deployment ${deployment}`, isThere);
  await cluster.kubectl([...inSystem, 'rollout', 'status', `deployment/${deployment}`, '--timeout=60s']);
}

const inSystem = ['--namespace', 'kube-system'];

function inPod(pod: string, script: string): Promise<string> {
  return cluster.kubectl(['exec', pod, '--', 'sh', '-c', script]);
}
