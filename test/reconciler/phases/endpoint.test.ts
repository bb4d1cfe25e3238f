import { isIP } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { admittedHostsAnnotation, outsidePortAnnotation } from '../../../constructs/api/group.ts';
import { Gateway } from '../../../constructs/api/resources.ts';
import type { Endpoint } from '../../../constructs/cluster/facts.ts';
import { endpoint } from '../../../reconciler/phases/endpoint.ts';
import type { SharedResources } from '../../../reconciler/clusters/management/view.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { now, scopeOf } from '../../support/scope.ts';

interface Case {
  /** The address or name of the load balancer. */
  readonly offered?: Endpoint;
  /** `spec.controlPlaneEndpoint` of the HostedControlPlane. */
  readonly own?: Partial<Endpoint>;
  /** `spec.controlPlaneEndpoint` of the Cluster. */
  readonly cluster?: Partial<Endpoint>;
  readonly infrastructure?: MemoryObjects['infrastructure'];
}

const offered = { host: '192.0.2.10', port: 6443 };
const name = { host: 'api.example.test', port: 6443 };

function run({ own, cluster, infrastructure = 'none', ...given }: Case) {
  const management = new MemoryObjects();
  management.infrastructure = infrastructure;
  const { host, port } = given.offered ?? offered;
  const scope = scopeOf(management, {
    facts: { serviceAddress: isIP(host) ? { ip: host } : { hostname: host } },
    spec: { exposure: { loadBalancer: { port } }, ...(own && { controlPlaneEndpoint: own }) },
    clusterSpec: cluster ? { controlPlaneEndpoint: cluster } : {},
  });
  return { reader: management, outcome: endpoint.run(scope) };
}

it.each<[string, Case, Endpoint, Endpoint | undefined]>([
  ['that of the exposure if none is specified', {}, offered, offered],
  ['the published one, without publishing it again', { own: offered }, offered, undefined],
  ["the Cluster's, which is published", { cluster: name }, name, name],
  ['the published one rather than another of the Cluster', { own: name, cluster: offered }, name, undefined],
  ['that of the exposure if the Cluster has none yet', { cluster: { host: '', port: 0 } }, offered, offered],
  [
    'that of the exposure if that of the Cluster is incomplete',
    { cluster: { host: 'api.example.test' } },
    offered,
    offered,
  ],
  ['a specified host with the port of the exposure', { own: { host: name.host } }, name, name],
  ['the host of the exposure with a specified port', { own: { port: 6443 } }, offered, offered],
  ['a specified name for an address of the exposure', { own: name }, name, undefined],
  [
    'a specified name for another name of the exposure',
    { own: name, offered: { host: 'lb.cloud.test', port: 6443 } },
    name,
    undefined,
  ],
  ['a specified address for a name of the exposure', { own: offered, offered: name }, offered, undefined],
  [
    'an address in another spelling',
    { own: { host: '2001:0db8:0:0::1', port: 6443 }, offered: { host: '2001:db8::1', port: 6443 } },
    { host: '2001:0db8:0:0::1', port: 6443 },
    undefined,
  ],
  ['that of the infrastructure', { infrastructure: name }, name, name],
  ["the Cluster's when the infrastructure has the same", { cluster: name, infrastructure: name }, name, name],
  [
    'that of the infrastructure if it has the specified host',
    { own: { host: name.host }, infrastructure: { ...name, host: 'API.example.test' } },
    { ...name, host: 'API.example.test' },
    { ...name, host: 'API.example.test' },
  ],
  ['that of the exposure, without waiting for any infrastructure', { infrastructure: 'none' }, offered, offered],
])('uses %s', async (_, given, used, published) => {
  const { reader: management, outcome } = run(given);
  expect(await outcome).toMatchObject({ kind: 'done', facts: { endpoint: used } });
  expect(management.published).toEqual(published);
});

it.each<[string, Case, string]>([
  ['the Cluster has another port', { cluster: { ...name, port: 443 } }, 'set its port to 443'],
  [
    'the infrastructure has another one than the Cluster',
    { cluster: offered, infrastructure: name },
    'api.example.test',
  ],
  [
    'the infrastructure has another host than the spec',
    { own: { host: 'other.example.test' }, infrastructure: name },
    'the endpoint is other.example.test:6443 and cannot change, but the infrastructure',
  ],
  [
    'nothing serves the port of the infrastructure',
    { infrastructure: { ...name, port: 443 } },
    'the endpoint is api.example.test:443 and cannot change, but the exposure strategy serves port 6443',
  ],
  [
    'the Cluster wants another address',
    { cluster: { ...offered, host: '192.0.2.99' } },
    'give it the address 192.0.2.99 again',
  ],
])('changes nothing and reports it when %s', async (_, given, message) => {
  const { reader: management, outcome } = run(given);
  await expect(outcome).rejects.toMatchObject({
    name: 'InvalidConfiguration',
    reason: 'EndpointMismatch',
    message: expect.stringContaining(message) as string,
  });
  expect(management.writes).toEqual([]);
});

it.each<[string, { own: Endpoint }, string]>([
  [
    'the port is not served any more',
    { own: { ...offered, port: 8443 } },
    '192.0.2.10:8443 and cannot change, but the exposure strategy serves port 6443',
  ],
  [
    'the address has changed',
    { own: { ...offered, host: '192.0.2.99' } },
    'has the address 192.0.2.10: give it the address 192.0.2.99 again',
  ],
])('keeps a published endpoint, and reports it, when %s', async (_, given, message) => {
  const { reader: management, outcome } = run(given);
  expect(await outcome).toMatchObject({
    kind: 'degraded',
    reason: 'EndpointMismatch',
    message: expect.stringContaining(message) as string,
    facts: { endpoint: given.own, konnectivityEndpoint: { host: given.own.host, port: 8132 } },
  });
  expect(management.writes).toEqual([]);
});

it('keeps a published endpoint, and reports it, when the infrastructure has another one', async () => {
  const { reader: management, outcome } = run({ own: offered, infrastructure: name });
  expect(await outcome).toEqual({
    kind: 'degraded',
    reason: 'EndpointMismatch',
    message:
      'the endpoint is 192.0.2.10:6443 and cannot change, but the infrastructure object of the Cluster has api.example.test:6443: set its spec.controlPlaneEndpoint to 192.0.2.10:6443',
    facts: {
      endpoint: offered,
      konnectivityEndpoint: { host: offered.host, port: 8132 },
      advertiseAddress: offered.host,
    },
  });
  expect(management.writes).toEqual([]);
});

it('writes it to an infrastructure object that has none, before it writes it to the HostedControlPlane', async () => {
  const { reader: management, outcome } = run({ infrastructure: 'empty' });
  await outcome;
  expect(management.writes).toEqual(['publish 192.0.2.10:6443 to the infrastructure', 'publish 192.0.2.10:6443']);
});

describe('behind a shared Gateway', () => {
  const gateway = { namespace: 'capi-system', name: 'capi' };
  const listener = {
    name: 'tls',
    protocol: 'TLS',
    port: 443,
    hostname: '*.clusters.example.com',
    tls: { mode: 'Passthrough' },
    allowedRoutes: { namespaces: { from: 'Selector', selector: { matchLabels: { tier: 'gold' } } } },
  };
  const object = {
    apiVersion: Gateway.apiVersion,
    kind: Gateway.kind,
    metadata: gateway,
    spec: { listeners: [listener] },
  };
  const around: Partial<SharedResources> = {
    servedVersions: (kind) => (kind === 'Gateway' ? ['v1'] : []),
    gateway: (asked) => (isDeepStrictEqual(asked, gateway) ? object : undefined),
    namespaceLabels: () => ({ tier: 'gold' }),
    hostOwner: () => undefined,
    seesEveryClaim: true,
  };

  function runIn(
    management: MemoryObjects,
    sharedResources: Partial<SharedResources> = {},
    exposure: object = { gateway },
  ) {
    return endpoint.run(
      scopeOf(management, { spec: { exposure }, sharedResources: { ...around, ...sharedResources } }),
    );
  }

  it('is what the Gateway offers to this namespace', async () => {
    const management = new MemoryObjects();
    expect(await runIn(management)).toMatchObject({
      kind: 'done',
      facts: {
        endpoint: { host: 'c1.team.clusters.example.com', port: 443 },
        konnectivityEndpoint: { host: 'konnectivity.c1.team.clusters.example.com', port: 443 },
        gatewayListener: 'tls',
      },
    });
    expect(management.writes).toEqual([
      'hold c1.team.clusters.example.com konnectivity.c1.team.clusters.example.com tunnel.c1.team.clusters.example.com',
      'publish c1.team.clusters.example.com:443',
    ]);
    expect(management.hosts[0]).toEqual({
      name: 'c1.team.clusters.example.com',
      gateway: 'capi-system/capi',
      heldSince: now.toISOString(),
    });
  });

  it.each<[string, Partial<SharedResources>, string]>([
    ['the API is not installed', { servedVersions: () => [] }, 'GatewayAPINotInstalled'],
    ['there is no Gateway', { gateway: () => undefined }, 'GatewayNotFound'],
    ['it does not admit the namespace', { namespaceLabels: () => ({}) }, 'GatewayListenerUnsuitable'],
  ])('is not published when %s', async (_, sharedResources, reason) => {
    const management = new MemoryObjects();
    await expect(runIn(management, sharedResources)).rejects.toMatchObject({ name: 'InvalidConfiguration', reason });
    expect(management.writes).toEqual([]);
  });

  it.each<[string, Partial<SharedResources>, string]>([
    ['the API was uninstalled', { servedVersions: () => [] }, 'GatewayAPINotInstalled'],
    ['the Gateway was deleted', { gateway: () => undefined }, 'GatewayNotFound'],
    ['its listener is not suitable any more', { namespaceLabels: () => ({}) }, 'GatewayListenerUnsuitable'],
  ])('is kept, and the reason reported, when %s after it was published', async (_, sharedResources, reason) => {
    const management = new MemoryObjects();
    await runIn(management);
    expect(await runIn(management, sharedResources)).toEqual({
      kind: 'degraded',
      reason,
      message: expect.any(String) as string,
      facts: {
        endpoint: { host: 'c1.team.clusters.example.com', port: 443 },
        konnectivityEndpoint: { host: 'konnectivity.c1.team.clusters.example.com', port: 443 },
        tunnelEndpoint: { host: 'tunnel.c1.team.clusters.example.com', port: 443 },
      },
    });
  });

  const ingress = { apiHost: 'api.example.test', konnectivityHost: 'agents.example.test' };
  it.each<[string, object, string]>([
    ['the host of a Gateway', { gateway }, 'c1.team.clusters.example.com'],
    ['the konnectivity host of a Gateway', { gateway }, 'konnectivity.c1.team.clusters.example.com'],
    ['the tunnel host of a Gateway', { gateway }, 'tunnel.c1.team.clusters.example.com'],
    ['the host of an Ingress', { ingress }, 'api.example.test'],
    ['the konnectivity host of an Ingress', { ingress }, 'agents.example.test'],
    ['the tunnel host of an Ingress', { ingress }, 'tunnel.api.example.test'],
  ])('is not published, not even to the infrastructure, while another cluster has %s', async (_, exposure, host) => {
    const management = new MemoryObjects();
    management.infrastructure = 'empty';
    const hostOwner = (asked: string) => (asked === host ? 'HostedControlPlane other/c9' : undefined);
    await expect(runIn(management, { hostOwner }, exposure)).rejects.toMatchObject({
      name: 'InvalidConfiguration',
      reason: 'HostClaimed',
      message: expect.stringContaining(
        `the host name ${host} already belongs to HostedControlPlane other/c9`,
      ) as string,
    });
    expect(management.writes).toEqual([]);
  });

  it.each<[string, object, string]>([
    ['behind a Gateway', { gateway }, 'tunnel.c1.team.clusters.example.com'],
    ['behind an Ingress', { ingress }, 'agents.example.test'],
  ])(
    'is kept %s, but not published to the infrastructure, when another cluster has one of its hosts',
    async (_, exposure, host) => {
      const management = new MemoryObjects();
      const before = await runIn(management, {}, exposure);
      management.infrastructure = 'empty';
      const published = [...management.writes];
      const hostOwner = (asked: string) => (asked === host ? 'HostedControlPlane other/c9' : undefined);
      expect(await runIn(management, { hostOwner }, exposure)).toEqual({
        kind: 'degraded',
        reason: 'HostClaimed',
        message: expect.stringContaining(
          `the host name ${host} already belongs to HostedControlPlane other/c9`,
        ) as string,
        facts: before.facts,
      });
      expect(management.writes).toEqual(published);
    },
  );

  it('is kept without a record of hosts that another cluster has, when it was published before hosts were recorded', async () => {
    const management = new MemoryObjects();
    management.published = { host: 'c1.team.clusters.example.com', port: 443 };
    const hostOwner = (asked: string) =>
      asked === 'c1.team.clusters.example.com' ? 'HostedControlPlane other/c9' : undefined;
    expect(await runIn(management, { hostOwner })).toMatchObject({
      kind: 'degraded',
      reason: 'HostClaimed',
      facts: { endpoint: management.published },
    });
    expect(management.writes).toEqual([]);

    await runIn(management);
    expect(management.hosts.map(({ name }) => name)).toContain('c1.team.clusters.example.com');
  });

  it('is not published when another cluster has taken the host at the same moment', async () => {
    const management = new MemoryObjects();
    const hostOwner = () => (management.hosts.length > 0 ? 'HostedControlPlane other/c9' : undefined);
    await expect(runIn(management, { hostOwner })).rejects.toMatchObject({ reason: 'HostClaimed' });
    expect(management.published).toBeUndefined();
  });

  it('is kept with its hosts, which are recorded once', async () => {
    const management = new MemoryObjects();
    const before = await runIn(management);
    const { length } = management.writes;
    expect(await runIn(management)).toEqual(before);
    expect(management.writes).toHaveLength(length);
  });

  it('has the port at which clients reach the Gateway, where its owner says so', async () => {
    const management = new MemoryObjects();
    const annotated = { ...object, metadata: { ...gateway, annotations: { [outsidePortAnnotation]: '10443' } } };
    const outcome = await runIn(management, { gateway: () => annotated });
    expect(outcome).toMatchObject({ facts: { endpoint: { port: 10443 }, konnectivityEndpoint: { port: 10443 } } });
    expect(management.published).toMatchObject({ port: 10443 });
    // The published one cannot change when the owner takes it back.
    const after = await runIn(management, { gateway: () => object });
    expect(after).toMatchObject({ kind: 'degraded', reason: 'EndpointMismatch', facts: { endpoint: { port: 10443 } } });
  });

  describe('with a host that is not below the name of its namespace', () => {
    const host = 'prod.clusters.example.com';
    const given = (management: MemoryObjects, annotation?: string, more: Partial<SharedResources> = {}) => {
      const annotations = annotation === undefined ? {} : { [admittedHostsAnnotation]: annotation };
      const annotated = { ...object, metadata: { ...gateway, annotations } };
      const spec = { exposure: { gateway }, controlPlaneEndpoint: { host, port: 443 } };
      return endpoint.run(
        scopeOf(management, { spec, sharedResources: { ...around, gateway: () => annotated, ...more } }),
      );
    };

    it('holds nothing, and routes attach nowhere, until the Gateway admits it', async () => {
      const management = new MemoryObjects();
      const refused = await given(management);
      expect(refused).toMatchObject({ kind: 'degraded', reason: 'HostNotAdmitted', facts: { endpoint: { host } } });
      expect(refused.facts).not.toHaveProperty('gatewayListener');
      expect(management.writes).toEqual([]);

      expect(await given(management, `team/${host}`)).toMatchObject({
        kind: 'done',
        facts: { gatewayListener: 'tls' },
      });
      expect(management.hosts.map(({ name }) => name)).toContain(host);
    });

    it('keeps it when the Gateway admits it no more', async () => {
      const management = new MemoryObjects();
      await given(management, `team/${host}`);
      expect(await given(management)).toMatchObject({ kind: 'done', facts: { gatewayListener: 'tls' } });
    });
  });
});
