import { describe, expect, it } from 'vitest';
import { HostedControlPlane, tlsRoutes } from '../../../../constructs/api/resources.ts';
import type { KubeObject, ObjectMeta } from '../../../../reconciler/kube/object.ts';
import {
  type HostClaim,
  hostClaimOfHostedControlPlane,
  hostClaimOfRoute,
  HostClaims,
  type HostedControlPlaneClaim,
  type RouteClaim,
} from '../../../../reconciler/clusters/management/host-claims.ts';

const metadata = { namespace: 'team', name: 'c1', creationTimestamp: '2026-01-01T00:00:00Z' };
const gateway = { namespace: 'infra', name: 'shared' };
const ingress = { apiHost: 'c1.example.org', konnectivityHost: 'k.example.org' };
const published = { host: 'C1.team.example.org', port: 443 };

const { apiVersion, kind } = HostedControlPlane;
const createdAt = metadata.creationTimestamp;

function claimOf(spec: object | undefined, status?: object) {
  return hostClaimOfHostedControlPlane({
    apiVersion,
    kind,
    metadata,
    ...(spec && { spec }),
    ...(status && { status }),
  });
}

describe('a HostedControlPlane', () => {
  const record = [{ name: 'prod.team.example.org', gateway: 'infra/shared', heldSince: '2026-02-01T00:00:00Z' }];
  const worked = { initialization: { controlPlaneInitialized: true } };

  it.each<[string, object | undefined, object | undefined]>([
    ['without a spec', undefined, undefined],
    ['whose spec asks for a host', { gateway, controlPlaneEndpoint: published }, undefined],
    ['whose spec asks for hosts of an Ingress', { exposure: { ingress } }, { conditions: [] }],
    ['that has given up its hosts', { gateway, controlPlaneEndpoint: published }, { ...worked, hosts: [] }],
  ])('%s claims none', (_, spec, status) => {
    expect(claimOf(spec, status).hosts).toEqual([]);
  });

  it('claims the hosts that its status records, whatever its spec asks for', () => {
    expect(claimOf({ gateway, controlPlaneEndpoint: published }, { ...worked, hosts: record }).hosts).toEqual(record);
  });

  it('holds behind another Gateway nothing of what it holds behind the first one', () => {
    const spec = { gateway: { namespace: 'team', name: 'own' } };
    expect(claimOf(spec, { ...worked, hosts: record }).hosts).toEqual([]);
  });

  it.each<[string, object | undefined, string[]]>([
    ['without a spec', undefined, []],
    ['behind a Gateway, not yet published,', { gateway }, []],
    [
      'behind a Gateway, published,',
      { exposure: { gateway }, controlPlaneEndpoint: published },
      ['c1.team.example.org', 'konnectivity.c1.team.example.org', 'tunnel.c1.team.example.org'],
    ],
    ['behind an Ingress', { exposure: { ingress } }, ['c1.example.org', 'k.example.org', 'tunnel.c1.example.org']],
    [
      'behind an Ingress, published under another name,',
      { exposure: { ingress: { ...ingress, tunnelHost: 't.example.org' } }, controlPlaneEndpoint: published },
      ['c1.example.org', 'c1.team.example.org', 'k.example.org', 't.example.org'],
    ],
    ['with a load balancer', { exposure: { loadBalancer: {} }, controlPlaneEndpoint: published }, []],
    ['with two exposure strategies', { gateway, exposure: { ingress }, controlPlaneEndpoint: published }, []],
  ])('%s that worked before hosts were recorded claims those of its spec', (_, spec, expected) => {
    expect(claimOf(spec, worked).hosts).toMatchObject(expected.map((name) => ({ name, heldSince: createdAt })));
  });

  it('names its Gateway also before it has a host', () => {
    expect(hostClaimOfHostedControlPlane({ apiVersion, kind, metadata, spec: { gateway } })).toMatchObject({
      key: 'team/c1',
      gateway: 'infra/shared',
    });
  });
});

describe('a TLSRoute', () => {
  const route = (spec: object, more: Partial<ObjectMeta> = {}): KubeObject & { spec: object } => ({
    apiVersion: tlsRoutes[0]?.apiVersion ?? '',
    kind: 'TLSRoute',
    metadata: { ...metadata, ...more },
    spec,
  });

  it('claims its host names behind every Gateway it is attached to, by default one of its own namespace', () => {
    const parentRefs = [
      { name: 'local' },
      gateway,
      { kind: 'Service', group: '', name: 'mesh' },
      { kind: 'Gateway', group: 'gateway.networking.k8s.io', name: 'full' },
    ];
    expect(hostClaimOfRoute(route({ hostnames: ['A.example.org'], parentRefs }))).toMatchObject({
      hosts: [{ name: 'a.example.org', heldSince: createdAt }],
      gateways: ['team/local', 'infra/shared', 'team/full'],
      owner: undefined,
    });
  });

  it.each<[string, object, string | undefined]>([
    ['the control plane that created it', { ...HostedControlPlane, controller: true }, 'team/c1-cp'],
    ['no control plane if the owner is not a controller', HostedControlPlane, undefined],
    [
      'no control plane if the owner is of another group',
      { apiVersion: 'x/v1', kind: 'HostedControlPlane', controller: true },
      undefined,
    ],
  ])('belongs to %s', (_, owner, expected) => {
    const reference = { apiVersion: '', kind: '', ...owner, name: 'c1-cp', uid: '1' };
    expect(hostClaimOfRoute(route({}, { ownerReferences: [reference] })).owner).toBe(expected);
  });
});

it('host claims are found by their host, and a change returns the hosts that it affects', () => {
  const claim = (key: string, ...hosts: string[]): HostedControlPlaneClaim => ({
    kind: 'HostedControlPlane',
    key,
    hosts: hosts.map((name) => ({ name, heldSince: '2026-01-01T00:00:00Z' })),
  });
  const claims = new HostClaims();
  expect(claims.put(claim('team/a', 'x', 'y'))).toEqual(['x', 'y']);
  expect(claims.put(claim('team/b', 'y'))).toEqual(['y']);
  expect([claims.ownerOf('y', 'team/a'), claims.ownerOf('y', 'team/b')]).toEqual([
    undefined,
    'HostedControlPlane team/a',
  ]);
  expect(claims.put(claim('team/a', 'x', 'y'))).toEqual([]);
  expect(claims.put(claim('team/a', 'z'))).toEqual(['x', 'y', 'z']);
  expect(['x', 'y', 'z'].map((name) => claims.ownerOf(name, 'team/b'))).toEqual([
    undefined,
    undefined,
    'HostedControlPlane team/a',
  ]);
  expect(claims.remove(claim('team/a'))).toEqual(['z']);
  expect([claims.ownerOf('z', 'team/b'), claims.hostedControlPlane('team/a')]).toEqual([undefined, undefined]);
  expect(claims.remove(claim('team/a'))).toEqual([]);
  expect(claims.hostedControlPlane('team/b')?.hosts.map(({ name }) => name)).toEqual(['y']);
});

const host = 'c1.team.example.org';
const shared = 'infra/shared';
const [early, late, now] = ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', '2026-01-03T00:00:00Z'];

const held = (heldSince: string) => [{ name: host, heldSince }];
function plane(
  key: string,
  heldSince?: string,
  changes: Partial<HostedControlPlaneClaim> = {},
): HostedControlPlaneClaim {
  return {
    kind: 'HostedControlPlane',
    key,
    hosts: heldSince === undefined ? [] : held(heldSince),
    gateway: shared,
    ...changes,
  };
}
function route(key: string, createdAt: string, changes: Partial<RouteClaim> = {}): RouteClaim {
  return { kind: 'TLSRoute', key, hosts: held(createdAt), gateways: [shared], ...changes };
}

/** The key of the one that keeps the host. */
function ownerAmong(claims: readonly HostClaim[], requester: HostedControlPlaneClaim): string | undefined {
  const all = new HostClaims();
  for (const claim of [...claims, requester]) all.put(claim);
  return all.ownerOf(host, requester.key)?.split(' ')[1];
}

/** Holds no host yet. */
const newcomer = plane('team/c1');
const holder = plane('team/c1', late);
const behindIngress = { gateway: undefined };

describe('a host name', () => {
  it.each<[string, HostedControlPlaneClaim, HostClaim[], string | undefined]>([
    ['is free if no object claims it', newcomer, [], undefined],
    ['is free if only the requester claims it', holder, [holder], undefined],
    ['is kept by another control plane that holds it', newcomer, [plane('other/c9', early)], 'other/c9'],
    ['stays with the first of two that hold it', holder, [holder, plane('other/c9', now)], undefined],
    ['is lost to the first of two that hold it', holder, [holder, plane('other/c9', early)], 'other/c9'],
    ['is lost by name if both hold it since the same time', holder, [holder, plane('a/c9', late)], 'a/c9'],
    ['stays by name if both hold it since the same time', holder, [holder, plane('z/c9', late)], undefined],
    [
      'with several claims is kept by the first',
      newcomer,
      [plane('other/b', late), plane('other/a', early), plane('other/c', now)],
      'other/a',
    ],
    ['is kept by a route of another owner', newcomer, [route('web/shop', now)], 'web/shop'],
    ['is not lost to an older route that takes it later', holder, [holder, route('web/shop', early)], undefined],
    ['is not lost to a younger route of another owner', holder, [holder, route('web/shop', now)], undefined],
    [
      'is free if the route belongs to the requester',
      newcomer,
      [route('team/c1', early, { owner: 'team/c1' })],
      undefined,
    ],
    [
      'is kept by the route of an unknown control plane',
      newcomer,
      [route('away/c7', early, { owner: 'away/c7' })],
      'away/c7',
    ],
    [
      'is decided between control planes, not between their routes',
      holder,
      [holder, plane('other/c9', now), route('other/c9', early, { owner: 'other/c9' })],
      undefined,
    ],
    [
      'is free if the route is behind another Gateway',
      newcomer,
      [route('web/shop', early, { gateways: ['infra/other'] })],
      undefined,
    ],
    [
      'is free for an Ingress, whatever routes exist',
      plane('team/c1', undefined, behindIngress),
      [route('web/shop', early)],
      undefined,
    ],
    [
      'is free if another namespace holds it behind a Gateway of its own',
      newcomer,
      [plane('other/c9', early, { gateway: 'other/own' })],
      undefined,
    ],
    [
      'is kept within one namespace also behind another Gateway',
      newcomer,
      [plane('team/c9', early, { gateway: 'team/own' })],
      'team/c9',
    ],
    [
      'below the name of its namespace is not kept by an Ingress of another namespace',
      newcomer,
      [plane('other/c9', early, behindIngress)],
      undefined,
    ],
    [
      'below the name of another namespace is lost by an Ingress',
      plane('other/c9', early, behindIngress),
      [plane('team/c1', late)],
      'team/c1',
    ],
    [
      'of an Ingress is not lost to a Gateway of a namespace that it does not name',
      plane('other/c9', early, behindIngress),
      [plane('third/c1', late)],
      undefined,
    ],
    [
      'of an Ingress is refused to a Gateway of a namespace that it does not name',
      plane('third/c1'),
      [plane('other/c9', early, behindIngress)],
      'other/c9',
    ],
  ])('%s', (_, requester, claims, expected) => {
    expect(ownerAmong(claims, requester)).toBe(expected);
  });

  it('is decided the same way by both that claim it, so that exactly one keeps it', () => {
    for (const [a, b] of [
      [plane('team/a', early), plane('team/b', late)],
      [plane('team/a', early), plane('team/b', early)],
    ] as const) {
      const losers = [a, b].filter((requester) => ownerAmong([a, b], requester) !== undefined);
      expect(losers.map(({ key }) => key)).toEqual(['team/b']);
    }
  });
});
