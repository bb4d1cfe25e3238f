import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { Gateway, TLSRoute } from '../../../constructs/api/resources.ts';
import { startOperator, type TestOperator } from '../../support/operator.ts';
import { single, Workbench } from '../../support/workbench.ts';
import { installAddon } from '../../testbed/addons.ts';
import { clustersDomain, gatewayAddress, lookupFor } from '../../testbed/gateway-address.ts';
import { instanceFrom } from '../../testbed/instance.ts';
import { whoAmI } from './who-am-i.ts';

const instance = instanceFrom(process.env, inject('testbed'));
const address = gatewayAddress(instance);
const capi = { namespace: 'capi-system', name: 'capi' };
const fieldManager = 'test';

let bench: Workbench;
let neighbour: Workbench;
let operator: TestOperator;
beforeAll(async () => {
  const kubeconfig = inject('kubeconfig');
  await installAddon(instance, 'traefik', () => {});
  bench = await Workbench.open(kubeconfig, 'exposed');
  neighbour = await Workbench.open(kubeconfig, 'exposed-too');
  // Claims are compared across namespaces, so this operator watches all of them.
  operator = await startOperator({ kubeconfig, lookup: lookupFor(instance) });
});
afterAll(async () => {
  await operator.stop();
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

test('its host is refused to a control plane of another namespace, which gets no route until it is free', async () => {
  await neighbour.create('c2', { ...behind(capi), controlPlaneEndpoint: { host } });
  const claimed = await neighbour.untilCondition('c2', 'SyncControlPlaneEndpointReady', { reason: 'HostClaimed' });
  expect(claimed.message).toContain(`the host name ${host} already belongs to HostedControlPlane exposed/c1-cp`);
  expect((await neighbour.client.list(TLSRoute, { namespace: neighbour.namespace })).items).toEqual([]);
  // The first one keeps its traffic.
  expect(await whoAmI({ instance, bench, address }, 'c1')).toMatchObject({ username: 'kubernetes-admin' });

  await bench.delete('c1');
  await neighbour.untilCondition('c2', 'APIServerTLSRoutesReady', { status: 'True' });
});

test('a new Gateway and a corrected listener are observed at once', async () => {
  const later = { namespace: bench.namespace, name: 'later' };
  const type = 'SyncControlPlaneEndpointReady';
  await bench.create('c3', behind(later));
  const missing = await bench.untilCondition('c3', type, { reason: 'GatewayNotFound' });
  expect(missing.message).toContain('Gateway exposed/later does not exist: create it');

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

  await bench.client.mergePatch(Gateway, later, { spec: spec({ mode: 'Passthrough' }) }, { fieldManager });
  await bench.untilReady('c3');
  expect(await whoAmI({ instance, bench, address }, 'c3')).toMatchObject({ username: 'kubernetes-admin' });
});
