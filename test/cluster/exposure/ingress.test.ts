import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { startOperator, type TestOperator } from '../../support/operator.ts';
import { single, Workbench } from '../../support/workbench.ts';
import { installAddon } from '../../testbed/addons.ts';
import { clustersDomain, gatewayAddress, lookupFor } from '../../testbed/gateway-address.ts';
import { instanceFrom } from '../../testbed/instance.ts';
import { kubectl } from '../../testbed/kubectl.ts';
import { whoAmI } from './who-am-i.ts';

const instance = instanceFrom(process.env, inject('testbed'));
const address = gatewayAddress(instance);
const traefik = ['--namespace', 'traefik'];
const deployment = 'deployment/traefik';
const otherPort = 8443;

let bench: Workbench;
let operator: TestOperator;
beforeAll(async () => {
  const kubeconfig = inject('kubeconfig');
  await installAddon(instance, 'traefik', () => {});
  bench = await Workbench.open(kubeconfig, 'ingress');
  operator = await startOperator({ kubeconfig, namespace: 'ingress', lookup: lookupFor(instance) });
  await openEntryPoint('websecure', otherPort);
  // Side by side, to save time.
  await create('c1', { controller: 'nginx', className: 'nginx' });
  await create('c2', { controller: 'traefik', port: otherPort });
});
afterAll(async () => {
  await bench.deleteAll();
  await operator.stop();
  await bench.close();
  await installAddon(instance, 'traefik', () => {});
});

const apiHost = (cluster: string) => `api.${cluster}.ingress.${clustersDomain}`;

async function create(cluster: string, ingress: object): Promise<void> {
  const hosts = { apiHost: apiHost(cluster), konnectivityHost: `agents.${cluster}.ingress.${clustersDomain}` };
  await bench.create(cluster, { ...single, exposure: { ingress: { ...hosts, ...ingress } } });
}

test.each([
  ['that passes TLS through by annotation', 'c1', 443],
  ['with a kind of its own, on another port', 'c2', otherPort],
])('a control plane behind an ingress controller %s is reached by its host name', async (_, cluster, port) => {
  await bench.untilReady(cluster);
  expect((await bench.get(cluster)).spec.controlPlaneEndpoint).toEqual({ host: apiHost(cluster), port });
  expect(await whoAmI({ instance, bench, address }, cluster)).toMatchObject({ username: 'kubernetes-admin' });
});

/** Opens a port of the testbed's Traefik, whose entry points are called otherwise than those of Traefik's own chart. */
async function openEntryPoint(name: string, port: number): Promise<void> {
  const patch = (object: string, type: 'json' | 'strategic', change: unknown) =>
    kubectl(instance, [...traefik, 'patch', object, '--type', type, '--patch', JSON.stringify(change)]);
  await patch('service/traefik', 'strategic', { spec: { ports: [{ name, port, protocol: 'TCP', targetPort: port }] } });
  const value = `--entrypoints.${name}.address=:${port}`;
  await patch(deployment, 'json', [{ op: 'add', path: '/spec/template/spec/containers/0/args/-', value }]);
  await kubectl(instance, [...traefik, 'rollout', 'status', deployment, '--timeout=60s']);
}
