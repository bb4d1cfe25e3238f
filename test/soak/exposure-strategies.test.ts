import { expect, inject, test } from 'vitest';
import { accessAt, joinBehind, kubernetesService } from '../cluster/workers/join-behind.ts';
import { instanceFrom, lanAddress, managementNumber } from '../testbed/instance.ts';

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
