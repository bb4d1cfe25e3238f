import { expect, test } from 'vitest';
import { planLoadBalancers, type LoadBalancerService } from '../tools/testbed/load-balancers.ts';

const pool = ['10.0.0.1', '10.0.0.2'];

function service(name: string, spec: LoadBalancerService['spec'], address?: string): LoadBalancerService {
  const status = address ? { loadBalancer: { ingress: [{ ip: address }] } } : {};
  return { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace: 'a' }, spec, status };
}

const balanced = (name: string, address?: string) => service(name, { type: 'LoadBalancer' }, address);

function plan(...services: LoadBalancerService[]) {
  const { assignments, addresses } = planLoadBalancers(services, pool);
  return {
    assigned: Object.fromEntries(assignments.map(({ service, address }) => [service.metadata.name, address])),
    addresses: [...addresses].sort(),
  };
}

test('a new Service gets the first free address', () => {
  expect(plan(balanced('old', '10.0.0.1'), balanced('new'))).toEqual({
    assigned: { new: '10.0.0.2' },
    addresses: pool,
  });
});

test('two new Services get two addresses', () => {
  expect(plan(balanced('one'), balanced('two')).assigned).toEqual({ one: '10.0.0.1', two: '10.0.0.2' });
});

test('a Service gets the address it requests, and moves when it requests another', () => {
  const asking = (address?: string) => service('s', { type: 'LoadBalancer', loadBalancerIP: '10.0.0.9' }, address);
  expect(plan(asking()).assigned).toEqual({ s: '10.0.0.9' });
  expect(plan(asking('10.0.0.1'))).toEqual({ assigned: { s: '10.0.0.9' }, addresses: ['10.0.0.9'] });
});

test('a Service that is no LoadBalancer any more loses its address', () => {
  expect(plan(service('s', { type: 'ClusterIP' }, '10.0.0.1'))).toEqual({ assigned: { s: undefined }, addresses: [] });
});

test('an address of a deleted Service is free', () => {
  expect(plan()).toEqual({ assigned: {}, addresses: [] });
});

test('with the pool empty a Service waits', () => {
  const taken = pool.map((address, index) => balanced(`s${index}`, address));
  expect(plan(...taken, balanced('late')).assigned).toEqual({});
});

test('a current status is not written again', () => {
  expect(plan(balanced('s', '10.0.0.1'), service('t', { type: 'ClusterIP' })).assigned).toEqual({});
});

test('a Service keeps the address it was just given, although the watch does not show it yet and a lower one became free', () => {
  const given = new Map([['uid-of-new', '10.0.0.2']]);
  const fresh = { ...balanced('new'), metadata: { name: 'new', namespace: 'a', uid: 'uid-of-new' } };
  const { assignments } = planLoadBalancers([fresh, balanced('next')], pool, given);
  expect(assignments.map(({ service, address }) => [service.metadata.name, address])).toEqual([
    ['new', '10.0.0.2'],
    ['next', '10.0.0.1'],
  ]);
});
