import { App } from 'cdk8s';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { Cluster, HostedControlPlane, Node, Secret } from '../../constructs/api/resources.ts';
import { providerNames } from '../../constructs/cluster/provider-names.ts';
import type { RenderedObject } from '../../constructs/control-plane/chart.ts';
import { OpenStackHostedCluster } from '../../constructs/stacks/openstack/cluster.ts';
import { ClusterResourceSet } from '../../imports/addons.cluster.x-k8s.io.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';
import { type SecretObject, valueOf } from '../../reconciler/pki/secret.ts';
import { joinConfigurationIn } from '../infrastructure-provider/host-machines.ts';
import { until } from '../support/until.ts';
import { instanceFrom } from '../testbed/instance.ts';
import { kubectl } from '../testbed/kubectl.ts';
import { withHostedApi } from '../testbed/workers.ts';
import { removeMachine } from '../testbed/node-machines.ts';
import { bootstrapData, joinMachineOf } from './joined-machine.ts';
import { type BootstrappedCluster, openBootstrappedCluster } from './bootstrapped-cluster.ts';
import { kubernetesVersion, type Workbench } from '../support/workbench.ts';

const namespace = 'bootstrap';
const name = 'c1';
const instance = instanceFrom(process.env, inject('testbed'));
const inNamespace = (...args: string[]): Promise<string> => kubectl(instance, ['--namespace', namespace, ...args]);
let cluster: BootstrappedCluster;
let bench: Workbench;

beforeAll(async () => {
  cluster = await openBootstrappedCluster(instance, { kubeconfig: inject('kubeconfig'), namespace, name });
  ({ bench } = cluster);
});
afterAll(async () => {
  await cluster.close();
});

test('the kubeadm bootstrap provider creates the bootstrap data of a machine', async () => {
  const userData = await bootstrapData(instance, namespace, await newestMachine());
  expect(userData).toContain('kubeadm join');
  const { spec } = await bench.get(name);
  const { host, port } = spec.controlPlaneEndpoint ?? {};
  expect(joinConfigurationIn(userData)).toMatchObject({
    apiVersion: 'kubeadm.k8s.io/v1beta4',
    kind: 'JoinConfiguration',
    nodeRegistration: { taints: expect.arrayContaining([expect.objectContaining({ key: uninitialized })]) },
    discovery: { bootstrapToken: { apiServerEndpoint: `${host}:${port}`, caCertHashes: [expect.any(String)] } },
  });
});

interface NodeObject extends KubeObject {
  readonly spec?: { readonly taints?: readonly { readonly key: string }[] };
}

/** The taint with which the bootstrap provider lets machines join. */
const uninitialized = 'node.cluster.x-k8s.io/uninitialized';

test('a machine that joins with it becomes the Node of its Machine, without taint, which goes with its Machine', async () => {
  const machineName = await newestMachine();
  try {
    await joinMachineOf(instance, bench.client, { namespace, cluster: name, name: machineName });
    // Cluster API writes conditions, which the previous wait observed, before the rest of a status.
    const node = await until('a Node of the Machine', async () => (await nodeOf(machineName)) || undefined);
    expect(node).toBe(machineName);
    await withHostedApi(instance, { namespace, name }, async ({ client }) => {
      const taints = async () => (await client.get<NodeObject>(Node, { name: machineName })).spec?.taints ?? [];
      await until('core to remove its taint', async () => (await taints()).every(({ key }) => key !== uninitialized));
      // Core drains the Node and deletes it, as there is no control plane of Machines to protect.
      await inNamespace('delete', 'machine', machineName, '--timeout=180s');
      expect(await client.find(Node, { name: machineName })).toBeUndefined();
    });
  } finally {
    await removeMachine(instance, machineName);
  }
});

test('the ClusterResourceSet of the OpenStack stack delivers the credentials into the hosted cluster', async () => {
  const clouds = 'clouds:\n  openstack: {}\n';
  const stack = { version: 'v1', namespace, capo: 'v1beta1' } as const;
  const chart = new OpenStackHostedCluster(new App(), 'delivery', {
    name,
    namespace,
    version: kubernetesVersion,
    stack,
    workers: {},
    clouds,
  });
  const objects = chart.toJson() as RenderedObject[];
  const label = objects.find(({ kind }) => kind === Cluster.kind)?.metadata.labels;
  const [pair] = Object.entries(label ?? {}).map((entry) => entry.join('='));
  const items = objects.filter(({ kind }) => [Secret.kind, ClusterResourceSet.GVK.kind].includes(kind));
  await inNamespace('label', 'cluster', name, String(pair));
  await kubectl(instance, ['apply', '--filename', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  await withHostedApi(instance, { namespace, name }, async ({ client }) => {
    const delivered = await until('the Secret in the hosted cluster', () =>
      client.find<SecretObject>(Secret, { namespace: 'kube-system', name: 'clouds-yaml' }),
    );
    expect(valueOf(delivered, 'clouds.yaml')).toBe(clouds);
  });
});

test("without the provider's ClusterRole it may not read the control plane and reports that; with it, it continues", async () => {
  const role = ['clusterrole', providerNames.bootstrapRole];
  const saved = await kubectl(instance, ['get', ...role, '--output', 'json']);
  await kubectl(instance, ['delete', ...role]);
  await inNamespace('scale', 'machinedeployment', name, '--replicas=2');
  const machine = await until('a second Machine', async () => {
    const names = await machineNames();
    return names.length === 2 && newestMachine();
  });
  const message = 'jsonpath={.status.conditions[?(@.type=="DataSecretAvailable")].message}';
  await until('the reason', async () => {
    const found = await inNamespace('get', 'kubeadmconfig', machine, '--output', message);
    return found.includes('"hostedcontrolplanes" in API group "controlplane.cluster.x-k8s.io"') && found;
  });
  const { metadata, ...rest } = JSON.parse(saved) as { metadata: { name: string; labels: object } };
  const { name: roleName, labels } = metadata;
  await kubectl(
    instance,
    ['create', '--filename', '-'],
    JSON.stringify({ ...rest, metadata: { name: roleName, labels } }),
  );
  expect(await bootstrapData(instance, namespace, machine)).toContain('kubeadm join');
});

test('core deletes the control plane when no Machine is left', async () => {
  const isDeleted = async () => {
    const found = await bench.client.find(HostedControlPlane, { namespace, name: `${name}-cp` });
    return found === undefined || found.metadata.deletionTimestamp !== undefined;
  };
  expect(await machineNames()).not.toEqual([]);
  expect(await isDeleted()).toBe(false);
  await bench.client.delete(Cluster, { namespace, name });
  const left = await until(
    'the deletion of the control plane',
    async () => (await isDeleted()) && machineNames(),
    180_000,
  );
  expect(left).toEqual([]);
});

async function machineNames(): Promise<string[]> {
  const flags = ['--sort-by=.metadata.creationTimestamp', '--output', 'jsonpath={.items[*].metadata.name}'];
  return (await inNamespace('get', 'machines', ...flags)).split(' ').filter(Boolean);
}

function newestMachine(): Promise<string> {
  return until('a Machine', async () => (await machineNames()).at(-1), 180_000);
}

function nodeOf(machine: string): Promise<string> {
  return inNamespace('get', 'machine', machine, '--output', 'jsonpath={.status.nodeRef.name}');
}
