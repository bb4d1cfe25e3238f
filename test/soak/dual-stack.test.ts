import { isIP } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type JoinableCluster, openJoinableCluster } from '../cluster/workers/joinable-cluster.ts';
import { webServer, webService } from '../cluster/workers/web-server.ts';
import { until } from '../support/until.ts';
import { single } from '../support/workbench.ts';
import { lanAddress, lanAddressIPv6 } from '../tools/testbed/instance.ts';
import { addIPv6 } from '../tools/testbed/ipv6.ts';
import { addWorker, type Worker } from '../tools/testbed/workers.ts';

const clusterNetwork = {
  services: { cidrBlocks: ['10.128.0.0/16', 'fd00:10:128::/112'] },
  pods: { cidrBlocks: ['10.244.0.0/16', 'fd00:10:244::/56'] },
};

let cluster: JoinableCluster;
let worker: Worker;
let pod: string;
/** The addresses of the Service `web`, IPv4 first. */
let addresses: readonly string[];

beforeAll(async () => {
  cluster = await openJoinableCluster('dual-stack', single, undefined, { clusterNetwork });
  worker = await addWorker(cluster.instance, cluster.api, undefined, { equip: addIPv6 });
  await cluster.apply(webServer, { ...webService, spec: { ...webService.spec, ipFamilyPolicy: 'RequireDualStack' } });
  await cluster.kubectl(['rollout', 'status', 'deployment/web', '--timeout=120s']);
  await cluster.kubectl(['--namespace', 'kube-system', 'rollout', 'status', 'deployment/coredns', '--timeout=120s']);
  [pod = ''] = await read('pods', '--selector=app=web', '{.items[*].metadata.name}');
  addresses = await read('service', 'web', '{.spec.clusterIPs[*]}');
});
afterAll(() => cluster.close());

/** The words of a field. */
async function read(kind: string, which: string, path: string): Promise<string[]> {
  return (await cluster.kubectl(['get', kind, which, '--output', `jsonpath=${path}`])).split(' ');
}

const inPod = (command: string) => cluster.kubectl(['exec', pod, '--', 'sh', '-c', command]);

test('a node has an address of each family, and its pods a network of each', async () => {
  const { number } = worker.machine;
  const own = [lanAddress(cluster.instance, number), lanAddressIPv6(cluster.instance, number)];
  expect(await read('node', worker.name, '{.status.addresses[?(@.type=="InternalIP")].address}')).toEqual(own);
  expect(await read('node', worker.name, '{.spec.podCIDRs[*]}')).toEqual([
    expect.stringMatching(/^10\.244\.\d+\.0\/24$/),
    expect.stringMatching(/^fd00:10:244:.*\/64$/),
  ]);
});

test('pods and Services have an address of each family', async () => {
  expect((await read('pod', pod, '{.status.podIPs[*].ip}')).map(isIP)).toEqual([4, 6]);
  expect(addresses).toEqual([expect.stringMatching(/^10\.128\./), expect.stringMatching(/^fd00:10:128::/)]);
});

test.each([
  ['IPv4', 0],
  ['IPv6', 1],
])('a pod reaches a Service by its %s address', async (_family, index) => {
  const address = addresses[index] ?? '';
  const url = `http://${address.includes(':') ? `[${address}]` : address}/`;
  // kube-proxy writes the rules of a node when it has received the Service
  const page = () => inPod(`timeout 3 wget -qO- ${url}`).catch(() => undefined);
  expect((await until(`an answer of ${url}`, page)).trim()).toBe(worker.name);
});

test('the cluster DNS answers with both', async () => {
  const answer = await until('an answer of the cluster DNS', () =>
    inPod('nslookup web.default.svc.cluster.local').catch(() => undefined),
  );
  for (const address of addresses) expect(answer).toContain(`Address: ${address}`);
});

test('kubectl reads the log of a pod through konnectivity', async () => {
  const log = () => cluster.kubectl(['logs', pod]).catch(() => undefined);
  expect(await until('the log', log)).toContain('serving on');
});
