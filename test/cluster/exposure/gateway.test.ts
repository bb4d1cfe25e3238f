import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { parse } from 'yaml';
import { admittedHostsAnnotation } from '../../../constructs/api/group.ts';
import { Gateway, HostedControlPlane, TLSRoute } from '../../../constructs/api/resources.ts';
import { collect } from '../../../reconciler/cli/collect.ts';
import type { KubeClient } from '../../../reconciler/kube/client.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { HcpUser } from '../../support/hcp.ts';
import { borrow } from '../../support/lent/borrow.ts';
import type { TestOperator } from '../../support/operator.ts';
import { testSession } from '../../support/test-session.ts';
import { single, Workbench } from '../../support/workbench.ts';
import { until } from '../../support/until.ts';
import { clustersDomain, gatewayAddress } from '../../tools/testbed/gateway-address.ts';
import { instanceFrom } from '../../tools/testbed/instance.ts';
import { run } from '../../tools/testbed/run.ts';
import { shared, startSharedOperator } from './shared-operator.ts';
import { tenantOf } from './tenant.ts';
import { whoAmI } from './who-am-i.ts';

const instance = instanceFrom(process.env, inject('testbed'));
const address = gatewayAddress(instance);
const capi = { namespace: 'capi-system', name: 'capi' };
const fieldManager = 'test';

const bench = borrow('gateway with 2 workers', { forGood: true });
const cluster = 'hosted';
const host = `${cluster}.${bench.namespace}.${clustersDomain}`;

let neighbour: Workbench;
let operator: TestOperator;
let tenant: KubeClient;
/** Runs hcp for control planes behind the shared Gateway. */
let user: HcpUser;
beforeAll(async () => {
  const kubeconfig = inject('kubeconfig');
  neighbour = await Workbench.open(kubeconfig, 'exposed-too');
  tenant = await tenantOf(neighbour, kubeconfig);
  user = new HcpUser({
    client: () => bench.client,
    kubeconfig: () => kubeconfig,
    namespace: bench.namespace,
    elsewhere: { gateway: capi.namespace },
  });
  await bench.stopOperator();
  await bench.patch(cluster, shared);
  operator = await startSharedOperator(instance, neighbour, kubeconfig);
  await bench.untilSeen(cluster);
  // an operator that starts, and finds a spec that no other has reconciled, waits until it has looked
  await bench.untilReady(cluster);
});
afterAll(async () => {
  await admit(null);
  await user.end();
  await operator?.stop();
  await tenant.connection.close();
  await neighbour.close();
});

const admit = (hosts: string | null) =>
  bench.client.mergePatch(
    Gateway,
    capi,
    { metadata: { annotations: { [admittedHostsAnnotation]: hosts } } },
    { fieldManager },
  );

test('a control plane behind the shared Gateway is reached by its host name, with client certificates', async () => {
  expect((await bench.get(cluster)).spec.controlPlaneEndpoint).toEqual({ host, port: 443 });
  expect(await whoAmI({ instance, bench, address }, cluster)).toMatchObject({
    username: 'kubernetes-admin',
    groups: expect.arrayContaining(['system:masters']),
  });
});

test('it is stable: another complete reconcile writes nothing but the status', async () => {
  const requests = operator.requests.length;
  await bench.untilSeen(cluster);
  const sent = () => {
    // A request that an overloaded API server rejected was repeated.
    const accepted = operator.requests.slice(requests).filter(({ verb, code }) => verb !== 'watch' && code < 300);
    // An event follows its condition in the background: that of Ready is perhaps not sent when the condition is seen.
    const others = accepted.filter(({ resource }) => resource !== 'events');
    return others.map(({ verb, resource }) => `${verb} ${resource}`);
  };
  // The status can be read before its writer has the answer.
  await until('the answer to a write', () => sent().length > 0);
  expect(sent()).toEqual(['apply hostedcontrolplanes']);
});

test('hcp collect writes its Gateway, which is in another namespace', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'collect-'));
  try {
    const { session } = testSession({ client: await user.client(collect), namespace: bench.namespace });
    const to = join(directory, 'collected.tar.gz');
    await collect.prepare({ positionals: [cluster], values: { to } })(session);
    await run(['tar', '--extract', '--file', to, '--strip-components=1', '--directory', directory]);
    const written = parse(await readFile(join(directory, 'Gateway.yaml'), 'utf8')) as KubeObject;
    expect(written.metadata).toMatchObject(capi);
  } finally {
    await rm(directory, { recursive: true });
  }
});

describe('a tenant of another namespace, with the rights of a tenant', () => {
  const type = 'SyncControlPlaneEndpointReady';
  const ask = (patch: object, subresource?: string) =>
    tenant.mergePatch(
      HostedControlPlane,
      { namespace: neighbour.namespace, name: 'c2-cp' },
      patch,
      subresource === undefined ? { fieldManager } : { fieldManager, subresource },
    );

  beforeAll(async () => {
    await neighbour.createHostedControlPlane('c2-cp', { ...single, exposure: { gateway: capi } });
    await neighbour.patch('c2', shared);
  });

  test('does not take the host of a control plane that works, by an object that asks for it', async () => {
    await ask({ spec: { controlPlaneEndpoint: { host } } });
    await bench.untilSeen(cluster);
    expect(await bench.condition(cluster, type)).toMatchObject({ status: 'True' });
  });

  test('cannot record that it holds a host', async () => {
    const hosts = [{ name: host, gateway: 'capi-system/capi', heldSince: '2026-01-01T00:00:00Z' }];
    await expect(ask({ status: { hosts } }, 'status')).rejects.toMatchObject({ code: 403 });
  });

  test('does not get the host with a Cluster either, which the Gateway does not admit', async () => {
    await neighbour.createCluster('c2', tenant);
    const refused = await neighbour.untilCondition('c2', type, { reason: 'HostNotAdmitted' });
    expect(refused.message).toContain(`the host ${host} is not below exposed-too.${clustersDomain}`);
    expect((await neighbour.get('c2')).status?.hosts).toBeUndefined();
  });

  test('does not get the host before it is free, also when the Gateway admits it', async () => {
    await admit(`exposed-too/${host}`);
    const claimed = await neighbour.untilCondition('c2', type, { reason: 'HostClaimed' });
    const holder = `${bench.namespace}/${cluster}-cp`;
    expect(claimed.message).toContain(`the host name ${host} already belongs to HostedControlPlane ${holder}`);
    expect((await neighbour.client.list(TLSRoute, { namespace: neighbour.namespace })).items).toEqual([]);
    // The first one keeps its traffic.
    expect(await whoAmI({ instance, bench, address }, cluster)).toMatchObject({ username: 'kubernetes-admin' });
    expect(await bench.condition(cluster, type)).toMatchObject({ status: 'True' });

    await bench.delete(cluster);
    await neighbour.untilCondition('c2', 'APIServerTLSRoutesReady', { status: 'True' });
  });
});
