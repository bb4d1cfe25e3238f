import { beforeAll, expect, test } from 'vitest';
import {
  CiliumNetworkPolicy,
  Cluster,
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
import { applyObjects } from '../../testbed/apply-objects.ts';
import { cilium } from '../../testbed/module-manifests.ts';
import { manifestObjects } from '../../testbed/rendered-objects.ts';

const namespace = 'policies';
const all = ['c1-api-server', 'c1-controller-manager', 'c1-etcd', 'c1-etcd-restore', 'c1-etcd-verify', 'c1-scheduler'];

/** No controllers: nothing but policies ever comes up, as where a control plane is ill. */
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

/** What there is of both kinds. The kind that makes room is the last to be right. */
async function present(): Promise<{ kubernetes: string[]; cilium: string[] }> {
  return { kubernetes: await names(NetworkPolicy), cilium: await names(CiliumNetworkPolicy) };
}

const limit = { timeout: 60_000, interval: 50 };

test('Cilium policies that cannot be are told of, and others can be had', async () => {
  await bench.untilCondition('c1', 'NetworkPoliciesReady', { status: 'False', reason: 'CiliumNotInstalled' });
  await bench.patch('c1', { spec: { networkPolicy: 'Auto' } });
  await bench.untilCondition('c1', 'NetworkPoliciesReady', { status: 'True' });
  expect(await names(NetworkPolicy)).toEqual(all);
});

test('Cilium that is installed later has its policies at once, in place of the others', async () => {
  await applyObjects(bench.client, await manifestObjects(cilium));
  await expect.poll(present, limit).toEqual({ kubernetes: [], cilium: all });
  await bench.untilCondition('c1', 'NetworkPoliciesReady', { status: 'True' });
});

test("what Cilium says against a policy is told in the control plane's status until it is withdrawn", async () => {
  const say = async (status: string, message: string) => {
    const conditions = [{ type: 'Valid', status, message }];
    const options = { fieldManager: 'cilium-operator', subresource: 'status' } as const;
    await bench.client.mergePatch(
      CiliumNetworkPolicy,
      { namespace, name: 'c1-etcd' },
      { status: { conditions } },
      options,
    );
  };
  await say('False', 'no such entity');
  const { message } = await bench.untilCondition('c1', 'NetworkPoliciesReady', { reason: 'PolicyInvalid' });
  expect(message).toContain('c1-etcd: no such entity');
  await say('True', 'Policy validation succeeded');
  await bench.untilCondition('c1', 'NetworkPoliciesReady', { status: 'True' });
});

test('a policy that somebody changed or deleted is put right', async () => {
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

test('policies that are disabled go, although the control plane is not up', async () => {
  await bench.patch('c1', { spec: { networkPolicy: 'Disabled' } });
  await expect.poll(present, limit).toEqual({ kubernetes: [], cilium: [] });
});
