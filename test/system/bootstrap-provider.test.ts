import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { providerNames } from '../../constructs/cluster/provider-names.ts';
import { until } from '../support/until.ts';
import { instanceFrom } from '../testbed/instance.ts';
import { kubectl } from '../testbed/kubectl.ts';
import { removeMachine } from '../testbed/node-machines.ts';
import { bootstrapData, joinConfigurationIn, joinMachineOf } from './joined-machine.ts';
import { type BootstrappedCluster, openBootstrappedCluster } from './bootstrapped-cluster.ts';
import type { Workbench } from '../support/workbench.ts';

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
    discovery: { bootstrapToken: { apiServerEndpoint: `${host}:${port}`, caCertHashes: [expect.any(String)] } },
  });
});

test('a machine that joins with it becomes the Node of its Machine', async () => {
  const machineName = await newestMachine();
  try {
    await joinMachineOf(instance, bench.client, { namespace, cluster: name, name: machineName });
    // Cluster API writes conditions, which the previous wait observed, before the rest of a status.
    const node = await until('a Node of the Machine', async () => (await nodeOf(machineName)) || undefined);
    expect(node).toBe(machineName);
  } finally {
    await removeMachine(instance, machineName);
  }
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
