import { beforeAll, expect, inject, test } from 'vitest';
import { operatedNamespace } from '../../support/operated-namespace.ts';
import { single } from '../../support/workbench.ts';
import { installAddon } from '../../testbed/addons.ts';
import { clustersDomain, gatewayAddress, lookupFor } from '../../testbed/gateway-address.ts';
import { instanceFrom } from '../../testbed/instance.ts';
import { whoAmI } from './who-am-i.ts';

const instance = instanceFrom(process.env, inject('testbed'));
const address = gatewayAddress(instance);

beforeAll(() => installAddon(instance, 'traefik', () => {}));
const bench = operatedNamespace('ingress', { lookup: lookupFor(instance) });
beforeAll(async () => {
  // Side by side, to save time.
  await create('c1', { controller: 'nginx', className: 'nginx' });
  await create('c2', { controller: 'traefik' });
});

const apiHost = (cluster: string) => `api.${cluster}.ingress.${clustersDomain}`;

async function create(cluster: string, ingress: object): Promise<void> {
  const hosts = { apiHost: apiHost(cluster), konnectivityHost: `agents.${cluster}.ingress.${clustersDomain}` };
  await bench.create(cluster, { ...single, exposure: { ingress: { ...hosts, ...ingress } } });
}

test.each([
  ['that passes TLS through by annotation', 'c1'],
  ['with a kind of its own', 'c2'],
])('a control plane behind an ingress controller %s is reached by its host name', async (_, cluster) => {
  await bench.untilReady(cluster);
  expect((await bench.get(cluster)).spec.controlPlaneEndpoint).toEqual({ host: apiHost(cluster), port: 443 });
  expect(await whoAmI({ instance, bench, address }, cluster)).toMatchObject({ username: 'kubernetes-admin' });
});
