import { beforeAll, expect, inject, test } from 'vitest';
import { operatedNamespace } from '../../../support/operated-namespace.ts';
import { single } from '../../../support/workbench.ts';
import { installAddon } from '../../../tools/testbed/addons.ts';
import { clustersDomain, gatewayAddress, lookupFor } from '../../../tools/testbed/gateway-address.ts';
import { instanceFrom } from '../../../tools/testbed/instance.ts';
import { whoAmI } from '../../../cluster/exposure/who-am-i.ts';

const instance = instanceFrom(process.env, inject('testbed'));
const address = gatewayAddress(instance);

beforeAll(() => installAddon(instance, 'traefik', () => {}));
const bench = operatedNamespace('ingress', { lookup: lookupFor(instance) });
// One that passes TLS through by annotation: `workers/exposure-strategies.test.ts`.
test('a control plane behind an ingress controller with its own kind is reached by its host name', async () => {
  const apiHost = `api.ingress.${clustersDomain}`;
  const hosts = { apiHost, konnectivityHost: `agents.ingress.${clustersDomain}` };
  await bench.create('c1', { ...single, exposure: { ingress: { ...hosts, controller: 'traefik' } } });
  await bench.untilReady('c1');
  expect((await bench.get('c1')).spec.controlPlaneEndpoint).toEqual({ host: apiHost, port: 443 });
  expect(await whoAmI({ instance, bench, address }, 'c1')).toMatchObject({ username: 'kubernetes-admin' });
});
