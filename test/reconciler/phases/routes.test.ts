import { describe, expect, it } from 'vitest';
import { type OptionalKind, TLSRoute } from '../../../constructs/api/resources.ts';
import type { Facts } from '../../../constructs/cluster/facts.ts';
import type { Outcome } from '../../../reconciler/engine/outcome.ts';
import { KubeError } from '../../../reconciler/kube/errors.ts';
import { routes } from '../../../reconciler/phases/routes.ts';
import { accepted, settle } from '../../support/management-controllers.ts';
import { MemoryObjects, type StoredObject } from '../../support/memory-objects.ts';
import { scopeOf } from '../../support/scope.ts';

const at = (host: string) => ({ host, port: 443 });
const facts: Partial<Facts> = {
  endpoint: at('api.example.test'),
  konnectivityEndpoint: at('agents.example.test'),
  gatewayListener: 'tls',
};
const gateway = { namespace: 'capi-system', name: 'capi' };
const hosts = { apiHost: 'api.example.test', konnectivityHost: 'agents.example.test' };

type Served = Partial<Record<OptionalKind, readonly string[]>>;

function runIn(management: MemoryObjects, spec: object, served: Served = {}): Promise<Outcome> {
  const sharedResources = { servedVersions: (kind: OptionalKind) => served[kind] ?? [] };
  return routes.run(scopeOf(management, { facts, spec, sharedResources }));
}

const gatewayServed: Served = { TLSRoute: ['v1', 'v1alpha2'] };
const behindGateway = (management: MemoryObjects, spec: object = {}, served = gatewayServed) =>
  runIn(management, { exposure: { gateway }, ...spec }, served);

/** Rejects one route, as the Gateway's controller would. */
function refuse(management: MemoryObjects, name: string): void {
  const route = management.get<StoredObject>(TLSRoute, name);
  if (!route) throw new Error(`there is no TLSRoute ${name}`);
  const condition = { type: 'Accepted', status: 'False', reason: 'NotAllowedByListeners', message: 'not here' };
  const parents = accepted(route).map((parent) => ({ ...parent, conditions: [condition] }));
  management.put({ ...route, status: { parents } });
}

describe('the routes of a gateway', () => {
  it('are applied and waited for, until the Gateway accepts all of them', async () => {
    const management = new MemoryObjects();
    expect(await behindGateway(management)).toMatchObject({
      kind: 'wait',
      reason: 'WaitingForRoutes',
      message: expect.stringContaining('capi-system/capi') as string,
      afterMs: undefined,
    });
    expect(management.writes).toEqual(['apply TLSRoute c1-api', 'apply TLSRoute c1-konnectivity']);
    settle(management);
    expect(await behindGateway(management)).toMatchObject({ kind: 'done', facts: { tlsRouteVersion: 'v1' } });
    expect(management.writes).toHaveLength(2);
  });

  it('stay as they are while no listener is suitable', async () => {
    const management = new MemoryObjects();
    await behindGateway(management);
    settle(management);
    const { gatewayListener: _, ...without } = facts;
    const scope = scopeOf(management, { facts: without, spec: { exposure: { gateway } } });
    expect(await routes.run(scope)).toMatchObject({ kind: 'wait', reason: 'WaitingForRoutes' });
    expect(management.names.filter((name) => name.startsWith('TLSRoute'))).toHaveLength(2);
  });

  it('are ready only when both are accepted', async () => {
    const management = new MemoryObjects();
    await behindGateway(management);
    settle(management);
    refuse(management, 'c1-konnectivity');
    expect(await behindGateway(management)).toMatchObject({
      kind: 'wait',
      reason: 'RouteRejected',
      message: expect.stringMatching(
        /refuses TLSRoute c1-konnectivity: NotAllowedByListeners: not here: allow /,
      ) as string,
      afterMs: undefined,
    });
  });

  it('are all reported when several are rejected', async () => {
    const management = new MemoryObjects();
    await behindGateway(management);
    refuse(management, 'c1-api');
    refuse(management, 'c1-konnectivity');
    expect(await behindGateway(management)).toMatchObject({
      message: expect.stringMatching(/TLSRoute c1-api: .*; .*TLSRoute c1-konnectivity: /) as string,
    });
  });

  it('are written in the served version', async () => {
    const management = new MemoryObjects();
    await behindGateway(management, {}, { TLSRoute: ['v1alpha2'] });
    expect(management.objects.map(({ apiVersion }) => apiVersion)).toEqual([
      'gateway.networking.k8s.io/v1alpha2',
      'gateway.networking.k8s.io/v1alpha2',
    ]);
  });

  it('are not written if that API is not installed', async () => {
    const management = new MemoryObjects();
    await expect(behindGateway(management, {}, { Gateway: ['v1'] })).rejects.toMatchObject({
      name: 'InvalidConfiguration',
      reason: 'GatewayAPINotInstalled',
      message: expect.stringContaining('does not serve TLSRoute') as string,
    });
    expect(management.writes).toEqual([]);
  });
});

describe('the route of the tunnel', () => {
  const withTunnel = { ...facts, tunnelEndpoint: at('tunnel.api.example.test') };
  const run = (management: MemoryObjects, inClusterAccess: string) => {
    const sharedResources = { servedVersions: (kind: OptionalKind) => gatewayServed[kind] ?? [] };
    const spec = { exposure: { gateway }, inClusterAccess };
    return routes.run(scopeOf(management, { facts: withTunnel, spec, sharedResources }));
  };

  it.each([
    ['Policy', 'done'],
    ['Proxy', 'wait'],
  ])('may be refused with %s: %s', async (access, kind) => {
    const management = new MemoryObjects();
    expect(await run(management, access)).toMatchObject({ kind: 'wait', reason: 'WaitingForRoutes' });
    settle(management);
    expect(await run(management, access)).toMatchObject({ kind: 'done' });
    expect(management.get(TLSRoute, 'c1-tunnel')).toBeDefined();
    refuse(management, 'c1-tunnel');
    expect(await run(management, access)).toMatchObject({ kind });
  });

  it.each([
    ['a quota', 403],
    ['a webhook', 422],
  ])('may be missing with Policy because of %s', async (_, code) => {
    const management = refusingTunnel(code);
    expect(await run(management, 'Policy')).toMatchObject({ reason: 'WaitingForRoutes' });
    settle(management);
    expect(await run(management, 'Policy')).toMatchObject({ kind: 'done' });
  });

  it.each([
    ['is needed with Proxy', 403, 'Proxy'],
    ['is tried again with Policy after an outage', 503, 'Policy'],
  ])('%s', async (_, code, access) => {
    await expect(run(refusingTunnel(code), access)).rejects.toThrow('c1-tunnel: refused');
  });
});

/** A namespace in which the route of the tunnel is refused. */
function refusingTunnel(code: number): MemoryObjects {
  const management = new MemoryObjects();
  management.refuse(({ metadata }) =>
    metadata.name === 'c1-tunnel'
      ? new KubeError('apply TLSRoute c1-tunnel: refused', { code, reason: 'Refused' })
      : undefined,
  );
  return management;
}

describe('the routes of an ingress controller', () => {
  it('are applied without waiting for a status', async () => {
    const management = new MemoryObjects();
    expect(await runIn(management, { exposure: { ingress: hosts } })).toMatchObject({ kind: 'done' });
    expect(management.writes).toEqual(['apply Ingress c1-api', 'apply Ingress c1-konnectivity']);
  });

  it("are of Traefik's kind if that is installed", async () => {
    const management = new MemoryObjects();
    const exposure = { ingress: { ...hosts, controller: 'traefik' } };
    expect(await runIn(management, { exposure }, { IngressRouteTCP: ['v1alpha1'] })).toMatchObject({ kind: 'done' });
    expect(management.writes).toEqual(['apply IngressRouteTCP c1-api', 'apply IngressRouteTCP c1-konnectivity']);
  });

  it('are not written if it is not installed', async () => {
    const management = new MemoryObjects();
    await expect(
      runIn(management, { exposure: { ingress: { ...hosts, controller: 'traefik' } } }),
    ).rejects.toMatchObject({
      name: 'InvalidConfiguration',
      reason: 'IngressAPINotInstalled',
      message: expect.stringContaining('install the CRDs of Traefik') as string,
    });
    expect(management.writes).toEqual([]);
  });

  it.each(['haproxy', 'traefik'])('of %s are not created with deploy: false', async (controller) => {
    const management = new MemoryObjects();
    const exposure = { ingress: { ...hosts, controller, deploy: false } };
    expect(await runIn(management, { exposure })).toMatchObject({ kind: 'done' });
    expect(management.writes).toEqual([]);
  });
});

it.each<[string, object, Served]>([
  ['a Gateway', { gateway }, gatewayServed],
  ['an Ingress', { ingress: hosts }, {}],
  ['an Ingress of Traefik', { ingress: { ...hosts, controller: 'traefik' } }, { IngressRouteTCP: ['v1alpha1'] }],
])('no route of %s is written for a host that another cluster has', async (_, exposure, served) => {
  const management = new MemoryObjects();
  const sharedResources = {
    servedVersions: (kind: OptionalKind) => served[kind] ?? [],
    hostOwner: (host: string) => (host === 'tunnel.api.example.test' ? 'HostedControlPlane other/c9' : undefined),
  };
  await expect(routes.run(scopeOf(management, { facts, spec: { exposure }, sharedResources }))).rejects.toMatchObject({
    name: 'InvalidConfiguration',
    reason: 'HostClaimed',
    message: expect.stringContaining(
      'the host name tunnel.api.example.test already belongs to HostedControlPlane other/c9',
    ) as string,
  });
  expect(management.writes).toEqual([]);
});

it('exposure strategies with their own address need no route', async () => {
  const management = new MemoryObjects();
  const nodePort = { address: '192.0.2.20', port: 30443, konnectivityPort: 30132 };
  for (const exposure of [{ loadBalancer: {} }, { nodePort }]) {
    expect(await runIn(management, { exposure })).toMatchObject({ kind: 'done', facts: {}, reason: 'NotRequested' });
  }
  expect(management.writes).toEqual([]);
});
