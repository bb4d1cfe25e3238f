import { beforeAll, expect, test } from 'vitest';
import {
  apiServerSlice,
  CiliumNetworkPolicy,
  Cluster,
  EndpointSlice,
  NetworkPolicy,
  type Resource,
  versionOf,
} from '../../../constructs/api/resources.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { plainApiServer } from '../../support/plain-api-server.ts';
import { installDefinition } from '../../support/definitions.ts';
import { operatedNamespace } from '../../support/operated-namespace.ts';
import { until } from '../../support/until.ts';
import { single } from '../../support/workbench.ts';
import { applyObjects } from '../../tools/testbed/apply-objects.ts';
import { cilium } from '../../tools/testbed/module-manifests.ts';
import { manifestObjects } from '../../tools/testbed/rendered-objects.ts';

const namespace = 'policies';
const all = [
  'c1-api-server',
  'c1-api-server-check',
  'c1-controller-manager',
  'c1-etcd',
  'c1-etcd-restore',
  'c1-etcd-verify',
  'c1-scheduler',
];

/** No controllers: only policies are created, as in an unhealthy control plane. */
const server = plainApiServer();
const bench = operatedNamespace(namespace, {
  kubeconfig: () => server.kubeconfig,
  prepare: (client) => installDefinition(client, Cluster, { served: [versionOf(Cluster)] }),
});
beforeAll(async () => {
  const nodePort = { address: '192.0.2.10', port: 30044, konnectivityPort: 30045 };
  await bench.create('c1', { ...single, exposure: { nodePort }, networkPolicy: 'CiliumNetworkPolicy' });
  await bench.nameOwner('c1');
});

async function names(resource: Resource): Promise<string[]> {
  const { items } = await bench.client.list(resource, { namespace });
  return items.map(({ metadata }) => metadata.name).sort();
}

interface PolicyObject extends KubeObject {
  readonly spec: unknown;
}

/** The existing policies of both kinds. The kind that is replaced is deleted last. */
async function present(): Promise<{ kubernetes: string[]; cilium: string[] }> {
  return { kubernetes: await names(NetworkPolicy), cilium: await names(CiliumNetworkPolicy) };
}

const limit = { timeout: 60_000, interval: 50 };

test('unavailable Cilium policies are reported, and the others can be used', async () => {
  await bench.untilCondition('c1', 'NetworkPoliciesReady', { status: 'False', reason: 'CiliumNotInstalled' });
  await bench.patch('c1', { spec: { networkPolicy: 'Auto' } });
  await bench.untilCondition('c1', 'NetworkPoliciesReady', { status: 'True' });
  expect(await names(NetworkPolicy)).toEqual(all);
});

test('Cilium that is installed later gets its policies at once, and the others are deleted', async () => {
  await applyObjects(bench.client, await manifestObjects(cilium));
  await expect.poll(present, limit).toEqual({ kubernetes: [], cilium: all });
  await bench.untilCondition('c1', 'NetworkPoliciesReady', { status: 'True' });
});

test("an invalid status that Cilium sets on a policy is reported in the control plane's status until it is withdrawn", async () => {
  const report = async (status: string, message: string) => {
    const conditions = [{ type: 'Valid', status, message }];
    const options = { fieldManager: 'cilium-operator', subresource: 'status' } as const;
    await bench.client.mergePatch(
      CiliumNetworkPolicy,
      { namespace, name: 'c1-etcd' },
      { status: { conditions } },
      options,
    );
  };
  await report('False', 'no such entity');
  const { message } = await bench.untilCondition('c1', 'NetworkPoliciesReady', { reason: 'PolicyInvalid' });
  expect(message).toContain('c1-etcd: no such entity');
  await report('True', 'Policy validation succeeded');
  await bench.untilCondition('c1', 'NetworkPoliciesReady', { status: 'True' });
});

test('a policy that another client changed or deleted is restored', async () => {
  const name = { namespace, name: 'c1-etcd' };
  const policy = () => bench.client.find<PolicyObject>(CiliumNetworkPolicy, name);
  const before = await policy();
  await bench.client.delete(CiliumNetworkPolicy, name);
  await until('the policy to be back', async () => {
    const found = await policy();
    return found !== undefined && found.metadata.uid !== before?.metadata.uid;
  });
  await bench.client.mergePatch(CiliumNetworkPolicy, name, { spec: { ingress: [] } }, { fieldManager: 'kubectl-edit' });
  await expect.poll(async () => (await policy())?.spec, limit).toEqual(before?.spec);
});

test('disabled policies become those that only deny what is denied to all, although the control plane is not ready', async () => {
  await bench.patch('c1', { spec: { networkPolicy: 'Disabled' } });
  await expect.poll(present, limit).toEqual({ kubernetes: all, cilium: [] });
  const policy = () => bench.client.get<PolicyObject>(NetworkPolicy, { namespace, name: 'c1-api-server' });
  expect((await policy()).spec).toMatchObject({ policyTypes: ['Egress'] });

  // As API servers publish themselves, which this one does not.
  const { apiVersion, kind } = EndpointSlice;
  const metadata = { namespace: 'default', name: apiServerSlice };
  const endpoints = [{ addresses: ['192.0.2.77'] }];
  await bench.client.create({ apiVersion, kind, metadata, addressType: 'IPv4', endpoints }, { fieldManager: 'test' });
  await expect.poll(async () => JSON.stringify((await policy()).spec), limit).toContain('"192.0.2.77/32"');
});
