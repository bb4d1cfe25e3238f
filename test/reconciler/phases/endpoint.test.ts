import { expect, it } from 'vitest';
import type { Endpoint } from '../../../constructs/control-plane/facts.ts';
import { endpoint } from '../../../reconciler/phases/endpoint.ts';
import { MemoryWorld } from '../../support/memory-world.ts';
import { scopeOf } from '../../support/scope.ts';

interface Case {
  readonly offered?: Endpoint;
  /** `spec.controlPlaneEndpoint` of the HostedControlPlane. */
  readonly own?: Partial<Endpoint>;
  /** `spec.controlPlaneEndpoint` of the Cluster. */
  readonly cluster?: Partial<Endpoint>;
}

const offered = { host: '192.0.2.10', port: 6443 };
const name = { host: 'api.example.test', port: 6443 };

function run({ own, cluster, ...given }: Case) {
  const world = new MemoryWorld();
  const scope = scopeOf(world, {
    facts: { endpoint: given.offered ?? offered },
    spec: own ? { controlPlaneEndpoint: own } : {},
    clusterSpec: cluster ? { controlPlaneEndpoint: cluster } : {},
  });
  return { world, outcome: endpoint.run(scope) };
}

it.each<[string, Case, Endpoint, Endpoint | undefined]>([
  ['the offered one when none is given', {}, offered, offered],
  ['the published one, without publishing it again', { own: offered }, offered, undefined],
  ["the Cluster's, which is published", { cluster: name }, name, name],
  ['the published one rather than another of the Cluster', { own: name, cluster: offered }, name, undefined],
  ['the offered one when the Cluster has none yet', { cluster: { host: '', port: 0 } }, offered, offered],
  ['the offered one when the Cluster has half of one', { cluster: { host: 'api.example.test' } }, offered, offered],
  ['a given host with the offered port', { own: { host: name.host } }, name, name],
  ['the offered host with a given port', { own: { port: 6443 } }, offered, offered],
  ['a given name for an offered address', { own: name }, name, undefined],
  [
    'a given name for another offered name',
    { own: name, offered: { host: 'lb.cloud.test', port: 6443 } },
    name,
    undefined,
  ],
  ['a given address for an offered name', { own: offered, offered: name }, offered, undefined],
  [
    'an address in another spelling',
    { own: { host: '2001:0db8:0:0::1', port: 6443 }, offered: { host: '2001:db8::1', port: 6443 } },
    { host: '2001:0db8:0:0::1', port: 6443 },
    undefined,
  ],
])('uses %s', async (_, given, used, published) => {
  const { world, outcome } = run(given);
  expect(await outcome).toMatchObject({ kind: 'done', facts: { endpoint: used } });
  expect(world.published).toEqual(published);
});

it.each<[string, Case, string]>([
  [
    'the port is served no more',
    { own: { ...offered, port: 8443 } },
    '192.0.2.10:8443 and cannot change, but the exposure serves port 6443',
  ],
  ['the Cluster wants another port', { cluster: { ...name, port: 443 } }, 'set its port to 443'],
  [
    'the address is another now',
    { own: { ...offered, host: '192.0.2.99' } },
    'has the address 192.0.2.10: give it 192.0.2.99 again',
  ],
  ['the Cluster wants another address', { cluster: { ...offered, host: '192.0.2.99' } }, 'give it 192.0.2.99 again'],
])('changes nothing and says so when %s', async (_, given, message) => {
  const { world, outcome } = run(given);
  await expect(outcome).rejects.toMatchObject({
    name: 'InvalidConfiguration',
    reason: 'EndpointMismatch',
    message: expect.stringContaining(message) as string,
  });
  expect(world.writes).toEqual([]);
});
