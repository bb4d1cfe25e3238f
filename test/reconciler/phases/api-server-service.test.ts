import { describe, expect, it } from 'vitest';
import { Service } from '../../../constructs/api/resources.ts';
import { KubeError } from '../../../reconciler/kube/errors.ts';
import type { Outcome } from '../../../reconciler/engine/outcome.ts';
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

it.each([
  ['an address', { ip: '192.0.2.10' }],
  ['a host name', { hostname: 'lb.cloud.test' }],
])('finds out %s of a load balancer', async (_, address) => {
  const world = await balancedBy(address);
  expect(await runIn(world, { loadBalancer: {} })).toMatchObject({ kind: 'done', facts: { serviceAddress: address } });
});

it('needs no address for node ports', async () => {
  expect(await runIn(new MemoryWorld(), nodePort)).toEqual({ kind: 'done', facts: {}, again: undefined });
});

describe('behind a shared Gateway', () => {
  const gateway = { namespace: 'capi-system', name: 'capi' };

  it('needs no address either', async () => {
    expect(await runIn(new MemoryWorld(), { gateway })).toEqual({ kind: 'done', facts: {}, again: undefined });
  });

  it('waits for the address that pods of the hosted cluster are to be given', async () => {
    const scope = scopeOf(new MemoryWorld(), { spec: { exposure: { gateway }, inClusterAccess: 'LoadBalancer' } });
    expect(await apiServerService.run(scope)).toMatchObject({ kind: 'wait', reason: 'WaitingForLoadBalancerAddress' });
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
