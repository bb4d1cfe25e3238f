import { describe, expect, it } from 'vitest';
import { HostedControlPlane, tlsRoutes } from '../../../../constructs/api/resources.ts';
import type { KubeObject, ObjectMeta } from '../../../../reconciler/kube/object.ts';
import {
  hostClaimOfHostedControlPlane,
  hostClaimOfRoute,
} from '../../../../reconciler/clusters/exposure/host-claim.ts';

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
