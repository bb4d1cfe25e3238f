import { describe, expect, it } from 'vitest';
import { type OptionalKind, TLSRoute } from '../../../constructs/api/resources.ts';
import type { Facts } from '../../../constructs/cluster/facts.ts';
import type { Outcome } from '../../../reconciler/engine/outcome.ts';
import { routes } from '../../../reconciler/phases/routes.ts';
import { accepted, settle } from '../../support/management-controllers.ts';
import { MemoryWorld, type StoredObject } from '../../support/memory-world.ts';
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

function runIn(world: MemoryWorld, spec: object, served: Served = {}): Promise<Outcome> {
  const surroundings = { servedVersions: (kind: OptionalKind) => served[kind] ?? [] };
  return routes.run(scopeOf(world, { facts, spec, surroundings }));
}

const gatewayServed: Served = { TLSRoute: ['v1', 'v1alpha2'] };
const behindGateway = (world: MemoryWorld, spec: object = {}, served = gatewayServed) =>
  runIn(world, { exposure: { gateway }, ...spec }, served);

/** Says of one route that it is refused, as the Gateway's controller would. */
function refuse(world: MemoryWorld, name: string): void {
  const route = world.get<StoredObject>(TLSRoute, name);
  if (!route) throw new Error(`there is no TLSRoute ${name}`);
  const condition = { type: 'Accepted', status: 'False', reason: 'NotAllowedByListeners', message: 'not here' };
  const parents = accepted(route).map((parent) => ({ ...parent, conditions: [condition] }));
  world.put({ ...route, status: { parents } });
}

describe('the routes of a gateway', () => {
  it('are applied and waited for, until the Gateway accepts all of them', async () => {
    const world = new MemoryWorld();
    expect(await behindGateway(world)).toMatchObject({
      kind: 'wait',
      reason: 'WaitingForRoutes',
      message: expect.stringContaining('capi-system/capi') as string,
      afterMs: undefined,
    });
    expect(world.writes).toEqual(['apply TLSRoute c1-api', 'apply TLSRoute c1-konnectivity']);
    settle(world);
    expect(await behindGateway(world)).toMatchObject({ kind: 'done', facts: { tlsRouteVersion: 'v1' } });
    expect(world.writes).toHaveLength(2);
  });

  it('stay as they are while no listener suits', async () => {
    const world = new MemoryWorld();
    await behindGateway(world);
    settle(world);
    const { gatewayListener: _, ...without } = facts;
    const scope = scopeOf(world, { facts: without, spec: { exposure: { gateway } } });
    expect(await routes.run(scope)).toMatchObject({ kind: 'wait', reason: 'WaitingForRoutes' });
    expect(world.names.filter((name) => name.startsWith('TLSRoute'))).toHaveLength(2);
  });

  it('count only when both are accepted', async () => {
    const world = new MemoryWorld();
    await behindGateway(world);
    settle(world);
    refuse(world, 'c1-konnectivity');
    expect(await behindGateway(world)).toMatchObject({
      kind: 'wait',
      reason: 'RouteRejected',
      message: expect.stringMatching(
        /refuses TLSRoute c1-konnectivity: NotAllowedByListeners: not here: let /,
      ) as string,
      afterMs: undefined,
    });
  });

  it('are told about all at once when several are refused', async () => {
    const world = new MemoryWorld();
    await behindGateway(world);
    refuse(world, 'c1-api');
    refuse(world, 'c1-konnectivity');
    expect(await behindGateway(world)).toMatchObject({
      message: expect.stringMatching(/TLSRoute c1-api: .*; .*TLSRoute c1-konnectivity: /) as string,
    });
  });

  it('are written in the version that is served', async () => {
    const world = new MemoryWorld();
    await behindGateway(world, {}, { TLSRoute: ['v1alpha2'] });
    expect(world.objects.map(({ apiVersion }) => apiVersion)).toEqual([
      'gateway.networking.k8s.io/v1alpha2',
      'gateway.networking.k8s.io/v1alpha2',
    ]);
  });

  it('are not written where that API is not installed', async () => {
    const world = new MemoryWorld();
    await expect(behindGateway(world, {}, { Gateway: ['v1'] })).rejects.toMatchObject({
      name: 'InvalidConfiguration',
      reason: 'GatewayAPINotInstalled',
      message: expect.stringContaining('serves no TLSRoute') as string,
    });
    expect(world.writes).toEqual([]);
  });
});

describe('the routes of an ingress controller', () => {
  it('are applied, and nobody says more about them', async () => {
    const world = new MemoryWorld();
    expect(await runIn(world, { exposure: { ingress: hosts } })).toMatchObject({ kind: 'done' });
    expect(world.writes).toEqual(['apply Ingress c1-api', 'apply Ingress c1-konnectivity']);
  });

  it("are of Traefik's kind where that is installed", async () => {
    const world = new MemoryWorld();
    const exposure = { ingress: { ...hosts, controller: 'traefik' } };
    expect(await runIn(world, { exposure }, { IngressRouteTCP: ['v1alpha1'] })).toMatchObject({ kind: 'done' });
    expect(world.writes).toEqual(['apply IngressRouteTCP c1-api', 'apply IngressRouteTCP c1-konnectivity']);
  });

  it('are not written where it is not', async () => {
    const world = new MemoryWorld();
    await expect(runIn(world, { exposure: { ingress: { ...hosts, controller: 'traefik' } } })).rejects.toMatchObject({
      name: 'InvalidConfiguration',
      reason: 'IngressAPINotInstalled',
      message: expect.stringContaining('install the CRDs of Traefik') as string,
    });
    expect(world.writes).toEqual([]);
  });

  it.each(['haproxy', 'traefik'])('of %s are left to others on request', async (controller) => {
    const world = new MemoryWorld();
    const exposure = { ingress: { ...hosts, controller, deploy: false } };
    expect(await runIn(world, { exposure })).toMatchObject({ kind: 'done' });
    expect(world.writes).toEqual([]);
  });
});

it.each<[string, object, Served]>([
  ['a Gateway', { gateway }, gatewayServed],
  ['an Ingress', { ingress: hosts }, {}],
  ['an Ingress of Traefik', { ingress: { ...hosts, controller: 'traefik' } }, { IngressRouteTCP: ['v1alpha1'] }],
])('no route of %s is written for a host that somebody else has', async (_, exposure, served) => {
  const world = new MemoryWorld();
  const surroundings = {
    servedVersions: (kind: OptionalKind) => served[kind] ?? [],
    claimant: (host: string) => (host === 'tunnel.api.example.test' ? 'HostedControlPlane other/c9' : undefined),
  };
  await expect(routes.run(scopeOf(world, { facts, spec: { exposure }, surroundings }))).rejects.toMatchObject({
    name: 'InvalidConfiguration',
    reason: 'HostClaimed',
    message: expect.stringContaining(
      'the host tunnel.api.example.test belongs to HostedControlPlane other/c9',
    ) as string,
  });
  expect(world.writes).toEqual([]);
});

it('ways in with an address of their own need nothing', async () => {
  const world = new MemoryWorld();
  const nodePort = { address: '192.0.2.20', port: 30443, konnectivityPort: 30132 };
  for (const exposure of [{ loadBalancer: {} }, { nodePort }]) {
    expect(await runIn(world, { exposure })).toEqual({ kind: 'done', facts: {}, again: undefined });
  }
  expect(world.writes).toEqual([]);
});
