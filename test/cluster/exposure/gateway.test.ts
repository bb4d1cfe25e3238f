import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { parse } from 'yaml';
import { collect } from '../../../reconciler/cli/collect.ts';
import { explain } from '../../../reconciler/cli/explain.ts';
import { admittedHostsAnnotation } from '../../../constructs/api/group.ts';
import { Gateway, HostedControlPlane, TLSRoute } from '../../../constructs/api/resources.ts';
import { messageOf } from '../../../reconciler/kube/error-message.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import type { KubeClient } from '../../../reconciler/kube/client.ts';
import { startOperator, type TestOperator } from '../../support/operator.ts';
import { HcpUser } from '../../support/hcp.ts';
import { ShippedRights } from '../../support/shipped-rights.ts';
import { testSession } from '../../support/test-session.ts';
import { until } from '../../support/until.ts';
import { single, Workbench } from '../../support/workbench.ts';
import { installAddon } from '../../testbed/addons.ts';
import { clustersDomain, gatewayAddress, lookupFor } from '../../testbed/gateway-address.ts';
import { instanceFrom } from '../../testbed/instance.ts';
import { tenantOf } from './tenant.ts';
import { whoAmI } from './who-am-i.ts';

const instance = instanceFrom(process.env, inject('testbed'));
const address = gatewayAddress(instance);
const capi = { namespace: 'capi-system', name: 'capi' };
const fieldManager = 'test';

let bench: Workbench;
let neighbour: Workbench;
let rights: ShippedRights;
let operator: TestOperator;
let tenant: KubeClient;
/** Runs hcp for control planes behind the shared Gateway. */
let user: HcpUser;
beforeAll(async () => {
  const kubeconfig = inject('kubeconfig');
  await installAddon(instance, 'traefik', () => {});
  bench = await Workbench.open(kubeconfig, 'exposed');
  neighbour = await Workbench.open(kubeconfig, 'exposed-too');
  // Claims are compared across namespaces, so this operator watches all of them.
  rights = await ShippedRights.grant({ client: bench.client, kubeconfig, namespace: bench.namespace });
  operator = await startOperator({ rights, lookup: lookupFor(instance) });
  tenant = await tenantOf(neighbour, kubeconfig);
  user = new HcpUser({
    client: () => bench.client,
    kubeconfig: () => kubeconfig,
    namespace: bench.namespace,
    elsewhere: { gateway: capi.namespace },
  });
  // Older than the control plane whose host it asks for later.
  await neighbour.createHostedControlPlane('c2-cp', behind(capi));
});
afterAll(async () => {
  await user.end();
  await operator.stop();
  await rights.end();
  await tenant.connection.close();
  await Promise.all([bench.close(), neighbour.close()]);
});

const behind = (gateway: object) => ({ ...single, exposure: { gateway } });
const host = `c1.exposed.${clustersDomain}`;

test('a control plane behind the shared Gateway is reached by its host name, with client certificates', async () => {
  await bench.create('c1', behind(capi));
  await bench.untilReady('c1');

  expect((await bench.get('c1')).spec.controlPlaneEndpoint).toEqual({ host, port: 443 });
  expect(await whoAmI({ instance, bench, address }, 'c1')).toMatchObject({
    username: 'kubernetes-admin',
    groups: expect.arrayContaining(['system:masters']),
  });
});

test('it is stable: another complete reconcile writes nothing but the status', async () => {
  const requests = operator.requests.length;
  await bench.untilSeen('c1');
  // A request that an overloaded API server rejected was repeated.
  const sent = operator.requests.slice(requests).filter(({ verb, code }) => verb !== 'watch' && code < 300);
  expect(sent.map(({ verb, resource }) => `${verb} ${resource}`)).toEqual(['apply hostedcontrolplanes']);
});

test('hcp collect writes its Gateway, which is in another namespace', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'collect-'));
  try {
    const { session } = testSession({ client: await user.client(collect), namespace: bench.namespace });
    await collect.prepare({ positionals: ['c1'], values: { to: directory } })(session);
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
  const admit = (hosts: string | null) =>
    bench.client.mergePatch(
      Gateway,
      capi,
      { metadata: { annotations: { [admittedHostsAnnotation]: hosts } } },
      { fieldManager },
    );

  test('does not take the host of a control plane that works, by an older object that asks for it later', async () => {
    await ask({ spec: { controlPlaneEndpoint: { host } } });
    await bench.untilSeen('c1');
    expect(await bench.condition('c1', type)).toMatchObject({ status: 'True' });
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
    expect(claimed.message).toContain(`the host name ${host} already belongs to HostedControlPlane exposed/c1-cp`);
    expect((await neighbour.client.list(TLSRoute, { namespace: neighbour.namespace })).items).toEqual([]);
    // The first one keeps its traffic.
    expect(await whoAmI({ instance, bench, address }, 'c1')).toMatchObject({ username: 'kubernetes-admin' });
    expect(await bench.condition('c1', type)).toMatchObject({ status: 'True' });

    await bench.delete('c1');
    await neighbour.untilCondition('c2', 'APIServerTLSRoutesReady', { status: 'True' });
    await admit(null);
  });
});

/** What `hcp explain` prints about a control plane. */
async function explained(cluster: string): Promise<string[]> {
  const { session, printed } = testSession({ client: await bench.hcp.client(explain), namespace: bench.namespace });
  const failure = await explain
    .prepare({ positionals: [cluster], values: {} })(session)
    .catch(messageOf);
  expect([undefined, `${cluster} is not Ready`]).toContain(failure);
  return printed;
}

test('a new Gateway and a corrected listener are observed at once, and hcp explain says what is wrong until then', async () => {
  const later = { namespace: bench.namespace, name: 'later' };
  const type = 'SyncControlPlaneEndpointReady';
  await bench.create('c3', behind(later));
  const missing = await bench.untilCondition('c3', type, { reason: 'GatewayNotFound' });
  expect(missing.message).toContain('Gateway exposed/later does not exist: create it');
  expect(await explained('c3')).toContainEqual(expect.stringMatching(/Gateway exposed\/later: does not exist/));

  const { apiVersion, kind } = Gateway;
  const certificateRefs = [{ name: 'none' }];
  const listener = (tls: object) => ({
    name: 'tls',
    protocol: 'TLS',
    port: 443,
    hostname: `*.later.${clustersDomain}`,
    tls,
  });
  const spec = (tls: object) => ({ gatewayClassName: 'traefik', listeners: [listener(tls)] });
  const terminating = { mode: 'Terminate', certificateRefs };
  await bench.client.create({ apiVersion, kind, metadata: later, spec: spec(terminating) }, { fieldManager });
  // The next resync is ten minutes away: the informers' watches report the change.
  const unsuitable = await bench.untilCondition('c3', type, { reason: 'GatewayListenerUnsuitable' });
  expect(unsuitable.message).toContain('listener tls: its tls.mode is Terminate, set Passthrough');

  await until('the controller to report the listener', async () =>
    (await explained('c3')).some((line) => /listener tls: ResolvedRefs is False: InvalidCertificateRef/.test(line)),
  );

  await bench.client.mergePatch(Gateway, later, { spec: spec({ mode: 'Passthrough' }) }, { fieldManager });
  await bench.untilReady('c3');
  expect(await whoAmI({ instance, bench, address }, 'c3')).toMatchObject({ username: 'kubernetes-admin' });
  await until('nothing to be wrong', async () => isDeepStrictEqual(await explained('c3'), ['c3 is Ready']));
});
