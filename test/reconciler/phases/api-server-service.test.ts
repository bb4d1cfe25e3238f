import { expect, it } from 'vitest';
import { Service } from '../../../constructs/api/resources.ts';
import { KubeError } from '../../../reconciler/kube/errors.ts';
import type { Outcome } from '../../../reconciler/outcome.ts';
import { apiServerService } from '../../../reconciler/phases/api-server-service.ts';
import { MemoryWorld, type StoredObject } from '../../support/memory-world.ts';
import { scopeOf } from '../../support/scope.ts';

const nodePort = { nodePort: { address: 'nodes.example.test', port: 30443, konnectivityPort: 30132 } };
const name = 's-c1';

function runIn(world: MemoryWorld, exposure: object): Promise<Outcome> {
  return apiServerService.run(scopeOf(world, { spec: { exposure } }));
}

/** A world in which the load balancer has been given these addresses. */
async function balancedBy(...ingress: object[]): Promise<MemoryWorld> {
  const world = new MemoryWorld();
  await runIn(world, { loadBalancer: {} });
  world.put({ ...world.get<StoredObject>(Service, name)!, status: { loadBalancer: { ingress } } });
  return world;
}

it('waits for the address of a load balancer, of which an event will tell', async () => {
  const world = new MemoryWorld();
  expect(await runIn(world, { loadBalancer: {} })).toMatchObject({
    kind: 'wait',
    reason: 'WaitingForLoadBalancerAddress',
    message: expect.stringContaining(name) as string,
    afterMs: undefined,
  });
  expect(world.writes).toEqual([`apply Service ${name}`]);
});

it.each<[string, object, object]>([
  [
    'an address',
    { ip: '192.0.2.10' },
    {
      endpoint: { host: '192.0.2.10', port: 443 },
      konnectivityEndpoint: { host: '192.0.2.10', port: 8132 },
      advertiseAddress: '192.0.2.10',
    },
  ],
  [
    'a host name',
    { hostname: 'lb.cloud.test' },
    {
      endpoint: { host: 'lb.cloud.test', port: 443 },
      konnectivityEndpoint: { host: 'lb.cloud.test', port: 8132 },
      advertiseAddress: undefined,
    },
  ],
])('offers %s of a load balancer', async (_, ingress, facts) => {
  expect(await runIn(await balancedBy(ingress), { loadBalancer: { port: 443 } })).toMatchObject({
    kind: 'done',
    facts,
  });
});

it('offers given node ports at once', async () => {
  expect(await runIn(new MemoryWorld(), nodePort)).toMatchObject({
    kind: 'done',
    facts: {
      endpoint: { host: 'nodes.example.test', port: 30443 },
      konnectivityEndpoint: { host: 'nodes.example.test', port: 30132 },
    },
  });
});

it('tells the user of a node port that somebody else has', async () => {
  const world = new MemoryWorld();
  const causes = [
    { reason: 'FieldValueInvalid', message: 'provided port is already allocated', field: 'spec.ports[0].nodePort' },
  ];
  const taken = new KubeError('apply Service team/s-c1: port 30443 is taken', { code: 422, reason: 'Invalid', causes });
  world.refuse(() => taken);
  await expect(runIn(world, nodePort)).rejects.toMatchObject({
    name: 'InvalidConfiguration',
    reason: 'NodePortTaken',
    message: 'apply Service team/s-c1: port 30443 is taken: choose another port in exposure.nodePort',
  });
});

it.each([
  new KubeError('apply Service team/s-c1: no answer', { code: 0, reason: 'Unreachable' }),
  new KubeError('apply Service team/s-c1: no', { code: 422, reason: 'Invalid', causes: [{ field: 'spec.type' }] }),
  new Error('something else'),
])('throws on what is no mistake of the user: $message', async (error) => {
  const world = new MemoryWorld();
  world.refuse(() => error);
  await expect(runIn(world, nodePort)).rejects.toBe(error);
});
