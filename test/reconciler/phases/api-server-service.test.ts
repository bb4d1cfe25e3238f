import { describe, expect, it } from 'vitest';
import { Service } from '../../../constructs/api/resources.ts';
import { KubeError } from '../../../reconciler/kube/errors.ts';
import type { Outcome } from '../../../reconciler/engine/outcome.ts';
import { apiServerService } from '../../../reconciler/phases/api-server-service.ts';
import { MemoryObjects, type StoredObject } from '../../support/memory-objects.ts';
import { now, scopeOf } from '../../support/scope.ts';

const nodePort = { nodePort: { address: 'nodes.example.test', port: 30443, konnectivityPort: 30132 } };
const name = 's-c1';

function runIn(management: MemoryObjects, exposure: object): Promise<Outcome> {
  return apiServerService.run(scopeOf(management, { spec: { exposure } }));
}

/** A cluster whose load balancer has these addresses. */
async function balancedBy(...ingress: object[]): Promise<MemoryObjects> {
  const management = new MemoryObjects();
  await runIn(management, { loadBalancer: {} });
  management.put({ ...management.get<StoredObject>(Service, name)!, status: { loadBalancer: { ingress } } });
  return management;
}

it('waits for the address of a load balancer, whose event triggers the next reconcile', async () => {
  const management = new MemoryObjects();
  expect(await runIn(management, { loadBalancer: {} })).toMatchObject({
    kind: 'wait',
    reason: 'WaitingForLoadBalancerAddress',
    message: expect.stringContaining(name) as string,
    afterMs: undefined,
  });
  expect(management.writes).toEqual([`apply Service ${name}`]);
});

it.each([
  ['an address', { ip: '192.0.2.10' }],
  ['a host name', { hostname: 'lb.cloud.test' }],
])('reads %s of a load balancer', async (_, address) => {
  const management = await balancedBy(address);
  expect(await runIn(management, { loadBalancer: {} })).toMatchObject({
    kind: 'done',
    facts: { serviceAddress: address },
  });
});

it('needs no address for node ports', async () => {
  expect(await runIn(new MemoryObjects(), nodePort)).toEqual({ kind: 'done', facts: {}, requeueAt: undefined });
});

describe('behind a shared Gateway', () => {
  const gateway = { namespace: 'capi-system', name: 'capi' };

  it('needs no address either', async () => {
    expect(await runIn(new MemoryObjects(), { gateway })).toEqual({ kind: 'done', facts: {}, requeueAt: undefined });
  });

  it('waits for the address that pods of the hosted cluster use', async () => {
    const scope = scopeOf(new MemoryObjects(), { spec: { exposure: { gateway }, inClusterAccess: 'LoadBalancer' } });
    expect(await apiServerService.run(scope)).toMatchObject({ kind: 'wait', reason: 'WaitingForLoadBalancerAddress' });
  });
});

describe('a node port that another Service has', () => {
  const causes = [
    { reason: 'FieldValueInvalid', message: 'provided port is already allocated', field: 'spec.ports[0].nodePort' },
  ];
  const taken = new KubeError('apply Service team/s-c1: port 30443 is taken', { code: 422, reason: 'Invalid', causes });
  const problem = {
    reason: 'NodePortTaken',
    message: 'apply Service team/s-c1: port 30443 is taken: choose another port in exposure.nodePort',
  };
  const management = new MemoryObjects();
  management.refuse(() => taken);

  it('holds back everything that needs the endpoint while that is not published', async () => {
    await expect(runIn(management, nodePort)).rejects.toMatchObject({ name: 'InvalidConfiguration', ...problem });
  });

  it('holds back everything also afterwards where the address comes from the Service', async () => {
    const spec = { exposure: { loadBalancer: {} }, controlPlaneEndpoint: { host: '192.0.2.10', port: 6443 } };
    await expect(apiServerService.run(scopeOf(management, { spec }))).rejects.toMatchObject(problem);
  });

  it('holds back nothing once the endpoint is published, and is tried again', async () => {
    const spec = { exposure: nodePort, controlPlaneEndpoint: { host: 'nodes.example.test', port: 30443 } };
    expect(await apiServerService.run(scopeOf(management, { spec }))).toMatchObject({
      kind: 'degraded',
      requeueAt: new Date(now.getTime() + 60_000),
      ...problem,
    });
  });
});

it.each([
  new KubeError('apply Service team/s-c1: no answer', { code: 0, reason: 'Unreachable' }),
  new KubeError('apply Service team/s-c1: no', { code: 422, reason: 'Invalid', causes: [{ field: 'spec.type' }] }),
  new Error('something else'),
])('throws an error that the user cannot resolve: $message', async (error) => {
  const management = new MemoryObjects();
  management.refuse(() => error);
  await expect(runIn(management, nodePort)).rejects.toBe(error);
});
