import { expect, inject, test } from 'vitest';
import { haproxyPort, passThroughHAProxy } from '../cluster/workers/haproxy-passthrough.ts';
import { accessAt, joinBehind, kubernetesService } from '../cluster/workers/join-behind.ts';
import { clustersDomain } from '../tools/testbed/gateway-address.ts';
import { instanceFrom, lanAddress, managementNumber } from '../tools/testbed/instance.ts';

const instance = instanceFrom(process.env, inject('testbed'));
// Below 30086, where Kubernetes allocates no port until all others are in use.
const nodePort = { address: lanAddress(instance, managementNumber), port: 30043, konnectivityPort: 30032 };

test.each([
  { what: 'a load balancer', namespace: 'by-load-balancer', spec: { exposure: { loadBalancer: {} } } },
  { what: 'node ports', namespace: 'by-node-port', spec: { exposure: { nodePort } } },
])(
  'behind $what a worker joins, its pods reach the API server, and kubectl reaches them',
  async ({ namespace, spec }) => {
    expect(await joinBehind({ namespace, spec })).toEqual(accessAt(kubernetesService));
  },
);

test('behind HAProxy, which distinguishes both hosts at one port by the name in TLS, a worker joins, its pods reach the API server, and kubectl reaches them', async () => {
  const namespace = 'by-haproxy';
  const apiHost = `api.${namespace}.${clustersDomain}`;
  const konnectivityHost = `agents.${namespace}.${clustersDomain}`;
  const ingress = { controller: 'haproxy', className: 'haproxy', apiHost, konnectivityHost, port: haproxyPort };
  const [access] = await Promise.all([
    joinBehind({ namespace, spec: { exposure: { ingress } } }),
    passThroughHAProxy(instance, namespace),
  ]);
  expect(access).toEqual(accessAt(`${apiHost}:${haproxyPort}`));
});
