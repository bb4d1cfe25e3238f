import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { corefile } from '../tools/testbed/corefile.ts';
import { gatewayAddress, isClusterHost, lookupFor } from '../tools/testbed/gateway-address.ts';
import { instanceFrom, lanAddress, loadBalancerNumbers } from '../tools/testbed/instance.ts';

const instance = instanceFrom({}, 'hcp');
const lookup = promisify(lookupFor(instance));

test.for(['c1.clusters.example.com', 'tunnel.c1.team.clusters.example.com', 'C1.Clusters.Example.com.'])(
  'a process on the host resolves the gateway as %s',
  async (name) => {
    expect(await lookup(name, {})).toBe('172.30.0.251');
    expect(await lookup(name, { all: true })).toEqual([{ address: '172.30.0.251', family: 4 }]);
  },
);

test.for(['localhost', '127.0.0.1'])('%s is resolved by the host', async (name) => {
  expect(await lookup(name, { family: 4 })).toBe('127.0.0.1');
});

test.for(['clusters.example.com', 'otherclusters.example.com', 'clusters.example.com.evil.example'])(
  '%s is not the name of a hosted cluster',
  (name) => {
    expect(isClusterHost(name)).toBe(false);
  },
);

test('no Service of the pool gets the address of the gateway', () => {
  const { first, last } = loadBalancerNumbers;
  const pool = Array.from({ length: last - first + 1 }, (_, index) => lanAddress(instance, first + index));
  expect(pool).not.toContain(gatewayAddress(instance));
});

test('DNS has the same address for pods and for machines, and forwards to no other server', () => {
  const answers = corefile(instance).match(/answer "{{ .Name }} 5 IN A 172\.30\.0\.251"/g);
  expect(answers).toHaveLength(2);
  expect(corefile(instance)).not.toContain('forward');
});
