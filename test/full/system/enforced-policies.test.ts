import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PodObject, SecretObject } from '../../../imports/kubernetes.ts';
import { clusterNameLabel } from '../../../constructs/api/group.ts';
import { Pod, Secret } from '../../../constructs/api/resources.ts';
import { ports } from '../../../constructs/cluster/ports.ts';
import type { KubeClient } from '../../../reconciler/kube/client.ts';
import { valueOf } from '../../../reconciler/pki/secret.ts';
import { ownTestbed } from '../../support/own-testbed.ts';
import { installProvider, providerNamespace } from '../../support/provider.ts';
import { until } from '../../support/until.ts';
import { kubernetesVersion, Workbench } from '../../support/workbench.ts';
import { untilAddOnRuns, webServer, webService } from '../../cluster/workers/web-server.ts';
import { runningMachine } from '../../tools/testbed/access.ts';
import { applyObjects } from '../../tools/testbed/apply-objects.ts';
import { bringUp } from '../../tools/testbed/bring-up.ts';
import { type HostedApi, hostedKubectl, openHostedApi } from '../../tools/testbed/hosted-api.ts';
import { busyboxImage } from '../../tools/testbed/images.ts';
import { kubeconfigPath, lanAddress, managementNumber, serviceCidr } from '../../tools/testbed/instance.ts';
import type { Machine } from '../../tools/testbed/machine.ts';
import {
  enforceNetworkPolicies,
  equipForPolicies,
  podConnects,
} from '../../tools/testbed/network-policy-enforcement.ts';
import { addWorker, type Worker } from '../../tools/testbed/workers.ts';

// The other tests run in a network that enforces no policy. Here kube-router does, on the node of the management cluster and on a worker.
const namespace = 'walled';
const instance = ownTestbed('dike');
const report = (line: string): void => console.log(line);
const host = lanAddress(instance, 1);
const management = lanAddress(instance, managementNumber);
const spec = { version: kubernetesVersion, replicas: 1, exposure: { loadBalancer: {} }, etcd: { replicas: 3 } };

let bench: Workbench;
let machine: Machine;
let outside: Server[];

beforeAll(async () => {
  await equipForPolicies(instance, report);
  await bringUp(instance, report);
  machine = await runningMachine(instance, 'm');
  outside = await Promise.all([443, 8443].map((port) => listening(host, port)));
  await installProvider(instance, report);
  bench = await Workbench.open(kubeconfigPath(instance), namespace);
  await applyObjects(bench.client, [strangerIn(namespace), strangerIn('default')]);
  await bench.create('c1', spec);
  await bench.untilRolledOut('c1');
});
afterAll(async () => {
  for (const server of outside ?? []) server.close();
  await bench?.client.connection.close();
});

/** What listens, by a name for the tables: every pod reaches it where no policy is enforced. */
async function targets(): Promise<Readonly<Record<string, readonly [host: string, port: number]>>> {
  const [api, etcd, manager, scheduler] = await Promise.all(
    ['api-server', 'etcd', 'controller-manager', 'scheduler'].map((component) => addressOf('c1', component)),
  );
  return {
    'API server': [api ?? '', ports.api],
    konnectivity: [api ?? '', ports.konnectivityAgent],
    'health of konnectivity': [api ?? '', ports.konnectivityHealth],
    etcd: [etcd ?? '', ports.etcdClient],
    'peers of etcd': [etcd ?? '', ports.etcdPeer],
    'metrics of etcd': [etcd ?? '', ports.etcdMetrics],
    'controller manager': [manager ?? '', ports.controllerManager],
    scheduler: [scheduler ?? '', ports.scheduler],
    'management API server': [management, 6443],
    kubelet: [management, 10_250],
    'host outside, 443': [host, 443],
    'host outside, 8443': [host, 8443],
  };
}

/** The addresses of the pods that try, by names for the tables. */
async function parties(): Promise<Readonly<Record<string, string>>> {
  const { items: operators } = await bench.client.list<PodObject>(Pod, { namespace: providerNamespace });
  const named = [
    ['API server', addressOf('c1', 'api-server')],
    ['another member of etcd', addressOf('c1', 'etcd', 1)],
    ['controller manager', addressOf('c1', 'controller-manager')],
    ['scheduler', addressOf('c1', 'scheduler')],
    ['operator', Promise.resolve(operators[0]?.status?.podIP ?? '')],
    ['pod of the namespace', podAddress(bench.client, namespace, 'stranger')],
    ['pod elsewhere', podAddress(bench.client, 'default', 'stranger')],
  ] as const;
  return Object.fromEntries(await Promise.all(named.map(async ([name, address]) => [name, await address] as const)));
}

/** Which of the targets each of them reaches. Its own ports are none: no policy is between a pod and itself. */
async function reached(): Promise<Record<string, readonly string[]>> {
  const [all, from] = await Promise.all([targets(), parties()]);
  const rows = Object.entries(from).map(async ([name, address]) => {
    const names: string[] = [];
    for (const [target, [to, port]] of Object.entries(all)) {
      if (to !== address && (await podConnects(machine, address, to, port))) names.push(target);
    }
    return [name, names] as const;
  });
  return Object.fromEntries(await Promise.all(rows));
}

const outsiders = ['management API server', 'kubelet', 'host outside, 443', 'host outside, 8443'];

test('without enforcement each pod reaches each port', async () => {
  const all = Object.entries(await targets());
  const from = Object.entries(await parties());
  const others = (address: string) => all.filter(([, [to]]) => to !== address).map(([name]) => name);
  expect(await reached()).toEqual(Object.fromEntries(from.map(([name, address]) => [name, others(address)])));
});

describe('where policies are enforced', () => {
  beforeAll(async () => {
    const kubeconfig = await readFile(kubeconfigPath(instance), 'utf8');
    await enforceNetworkPolicies({ machine, kubeconfig, serviceCidr: serviceCidr(instance) }, report);
  });

  test('a component reaches what it needs, and nothing else', async () => {
    const entrances = ['API server', 'konnectivity'];
    const expected = {
      'API server': ['etcd', 'host outside, 443'],
      'another member of etcd': ['peers of etcd'],
      'controller manager': ['API server'],
      scheduler: ['API server'],
      operator: ['API server', 'konnectivity', 'health of konnectivity', 'etcd', ...outsiders],
      'pod of the namespace': [...entrances, ...outsiders],
      'pod elsewhere': [...entrances, ...outsiders],
    };
    let seen = {};
    const isEnforced = async () => JSON.stringify((seen = await reached())) === JSON.stringify(expected);
    await until('the policies to be enforced', isEnforced, 60_000, () => seen).catch(() => {});
    expect(seen).toEqual(expected);
  });

  test('a control plane is born, and another one changes its API servers and its members', async () => {
    await bench.create('c2', { ...spec, etcd: { replicas: 1 } });
    await bench.patch('c1', { spec: { replicas: 2, etcd: { args: { 'snapshot-count': '20000' } } } });
    await Promise.all([bench.untilRolledOut('c1'), bench.untilRolledOut('c2')]);
    expect((await bench.get('c1')).status?.availableReplicas).toBe(2);
  });
});

describe('a hosted cluster whose worker enforces policies', () => {
  let api: HostedApi;
  let worker: Worker;
  beforeAll(async () => {
    api = await openHostedApi(instance, bench.client, { namespace, name: 'c1' });
    worker = await addWorker(instance, api, report);
    await inside(
      ['apply', '--filename', '-'],
      JSON.stringify({ ...webServer, spec: { ...webServer.spec, replicas: 1 } }),
    );
    await inside(['apply', '--filename', '-'], JSON.stringify(webService));
    await inside(['rollout', 'status', 'deployment/web', '--timeout=180s']);
    for (const name of ['coredns', 'konnectivity-agent']) await untilAddOnRuns({ kubectl: inside }, name);
  });
  afterAll(() => api?.client.connection.close());
  const inside = (args: readonly string[], input?: string) => hostedKubectl(instance, api, args, input);

  test('resolves names, while CoreDNS reaches no pod of a user', async () => {
    const [dns, web] = await Promise.all([
      labelled(api.client, 'kube-system', 'k8s-app=kube-dns'),
      labelled(api.client, 'default', 'app=web'),
    ]);
    expect(await podConnects(worker.machine, dns, web, 8080)).toBe(true);
    const [services = ''] = api.services;
    // Workers reach the endpoint of its kubeconfig, and no Service of the management cluster.
    const secret = await bench.client.get<SecretObject>(Secret, { namespace, name: 'c1-kubeconfig' });
    const kubeconfig = valueOf(secret, 'value') ?? '';
    await enforceNetworkPolicies({ machine: worker.machine, kubeconfig, serviceCidr: services }, report);
    await until(
      'the policy of CoreDNS to be enforced',
      async () => !(await podConnects(worker.machine, dns, web, 8080)),
    );
    expect(await podConnects(worker.machine, web, dns, 53)).toBe(true);
    const name = 'web.default.svc.cluster.local';
    expect(await inside(['exec', 'deployment/web', '--', 'nslookup', name])).toContain(`Name:\t${name}`);
    // A CoreDNS that starts needs the API server.
    await inside(['--namespace', 'kube-system', 'rollout', 'restart', 'deployment/coredns']);
    await inside(['--namespace', 'kube-system', 'rollout', 'status', 'deployment/coredns', '--timeout=180s']);
  });
});

function listening(address: string, port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy()).once('error', reject);
    server.listen(port, address, () => resolve(server));
  });
}

function addressOf(cluster: string, component: string, index = 0): Promise<string> {
  const selector = `${clusterNameLabel}=${cluster},app.kubernetes.io/component=${component}`;
  return labelled(bench.client, namespace, selector, index);
}

async function labelled(client: KubeClient, where: string, labelSelector: string, index = 0): Promise<string> {
  const { items } = await client.list<PodObject>(Pod, { namespace: where, labelSelector });
  const sorted = items.toSorted((one, other) => one.metadata.name.localeCompare(other.metadata.name));
  const address = sorted[index]?.status?.podIP;
  if (address === undefined) throw new Error(`no pod ${index} of ${labelSelector} in ${where} has an address`);
  return address;
}

function podAddress(client: KubeClient, where: string, name: string): Promise<string> {
  return until(`an address of pod ${where}/${name}`, async () => {
    return (await client.get<PodObject>(Pod, { namespace: where, name })).status?.podIP;
  });
}

/** A pod that nothing is known of. */
function strangerIn(where: string) {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: where, name: 'stranger' },
    spec: {
      terminationGracePeriodSeconds: 0,
      securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'stranger',
          image: busyboxImage,
          command: ['sleep', 'infinity'],
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        },
      ],
    },
  };
}
