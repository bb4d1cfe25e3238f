import { describe, expect, it } from 'vitest';
import { exposureStrategy } from '../../../../constructs/control-plane/exposure/exposure.ts';
import type { EndpointInput } from '../../../../constructs/control-plane/exposure/strategy.ts';
import type { Endpoint } from '../../../../constructs/cluster/facts.ts';
import { clusterOf } from '../../../support/rendered-cluster.ts';

const listener = {
  name: 'tls-passthrough',
  protocol: 'TLS',
  port: 443,
  hostname: '*.clusters.example.com',
  tls: { mode: 'Passthrough' },
  allowedRoutes: { namespaces: { from: 'All' } },
};
const behind = (changes: Partial<typeof listener> = {}): EndpointInput => ({
  gatewayServed: true,
  gateway: { spec: { listeners: [{ ...listener, ...changes }] } },
});
const gateway = { namespace: 'capi-system', name: 'capi' };

function decide(outside: EndpointInput, preset: Partial<Endpoint> = {}, spec: object = {}) {
  const cluster = clusterOf({ spec: { exposure: { gateway }, ...spec } });
  return exposureStrategy(cluster.spec).endpoint(cluster, outside, preset);
}

describe('a gateway', () => {
  it('gives a host name below its wildcard on its port', () => {
    expect(decide(behind())).toEqual({
      known: true,
      endpoint: { host: 'c1.team.clusters.example.com', port: 443 },
      konnectivityEndpoint: { host: 'konnectivity.c1.team.clusters.example.com', port: 443 },
      tunnelEndpoint: { host: 'tunnel.c1.team.clusters.example.com', port: 443 },
      gatewayListener: 'tls-passthrough',
    });
  });

  it('is the same as the short form', () => {
    const cluster = clusterOf({ spec: { exposure: undefined, gateway } });
    expect(exposureStrategy(cluster.spec).endpoint(cluster, behind(), {})).toEqual(decide(behind()));
  });

  it('uses the port of its listener', () => {
    expect(decide(behind({ port: 8443 }), {}, { inClusterAccess: 'Proxy' })).toMatchObject({
      endpoint: { port: 8443 },
      konnectivityEndpoint: { port: 8443 },
      tunnelEndpoint: { port: 8443 },
    });
  });

  it('keeps a fixed host, and derives the others from it', () => {
    const preset = { host: 'prod.team.clusters.example.com', port: 443 };
    expect(decide(behind(), preset, { inClusterAccess: 'Proxy' })).toMatchObject({
      endpoint: { host: 'prod.team.clusters.example.com', port: 443 },
      konnectivityEndpoint: { host: 'konnectivity.prod.team.clusters.example.com', port: 443 },
      tunnelEndpoint: { host: 'tunnel.prod.team.clusters.example.com', port: 443 },
    });
  });

  const foreign = { host: 'Prod.other.clusters.example.com', port: 443 };
  it('refuses a host of another namespace, but goes on with the certificates of what is published', () => {
    expect(decide(behind(), foreign)).toEqual({
      known: false,
      reason: 'HostNotAdmitted',
      message: expect.stringContaining(
        'the host Prod.other.clusters.example.com is not below team.clusters.example.com',
      ),
      meanwhile: {
        endpoint: foreign,
        konnectivityEndpoint: { host: `konnectivity.${foreign.host}`, port: 443 },
        tunnelEndpoint: { host: `tunnel.${foreign.host}`, port: 443 },
      },
    });
  });

  it('keeps a host of another namespace that the control plane holds', () => {
    const heldHosts = ['prod.other.clusters.example.com'];
    expect(decide({ ...behind(), heldHosts }, foreign)).toMatchObject({ known: true, endpoint: foreign });
  });

  it.each<[string, EndpointInput, Partial<Endpoint>, string, string]>([
    ['the API is not installed', {}, {}, 'GatewayAPINotInstalled', 'Gateway capi-system/capi cannot be read'],
    [
      'the Gateway does not exist',
      { gatewayServed: true },
      {},
      'GatewayNotFound',
      'Gateway capi-system/capi does not exist: create it',
    ],
    [
      'its listener is not suitable',
      behind({ tls: { mode: 'Terminate' } }),
      {},
      'GatewayListenerUnsuitable',
      'listener tls-passthrough: its tls.mode is Terminate',
    ],
    ['its listener serves another host', behind(), { host: 'c1.example.org' }, 'EndpointMismatch', 'c1.example.org'],
    [
      'an address is fixed, which cannot be routed by host name',
      behind(),
      { host: '192.0.2.10', port: 443 },
      'EndpointMismatch',
      'the endpoint is the address 192.0.2.10',
    ],
    [
      'the derived names are too long',
      behind({ hostname: `*.${`${'a'.repeat(60)}.`.repeat(4)}org` }),
      {},
      'GatewayListenerUnsuitable',
      'has 268 characters, and DNS allows 253: shorten its hostname *.aaaa',
    ],
  ])('has no endpoint and a reason when %s', (_, outside, preset, reason, message) => {
    expect(decide(outside, preset)).toEqual({ known: false, reason, message: expect.stringContaining(message) });
  });
});

describe('the Service behind a gateway', () => {
  const service = (spec: object) =>
    exposureStrategy(clusterOf({ spec: { exposure: { gateway }, ...spec } }).spec).service;

  it('has no address of its own', () => {
    expect(service({})).toEqual({ type: 'ClusterIP', apiPorts: { api: 6443 }, tunnelPort: 6444 });
  });

  it.each<[string, object, number | undefined]>([
    ['a port for the tunnel of proxies', { inClusterAccess: 'Proxy' }, 6444],
    ['a tunnel port if the API server does not support policies', { version: 'v1.33.0' }, 6444],
    ['a tunnel port for the Service kubernetes if a policy is used', { version: 'v1.34.0' }, 6444],
    ['no tunnel port if no proxy would trust the CA', { certificates: { issuerRef: { name: 'ours' } } }, undefined],
    ['no tunnel port if pods use an address', { version: 'v1.33.0', inClusterAccess: 'LoadBalancer' }, undefined],
  ])('has %s', (_, spec, port) => {
    expect(service(spec).tunnelPort).toBe(port);
    const decision = decide({ ...behind(), serviceAddress: { ip: '192.0.2.10' } }, {}, spec);
    expect('tunnelEndpoint' in decision).toBe(port !== undefined);
  });

  const inClusterAccess = { inClusterAccess: 'LoadBalancer' };

  it('has an address for pods of the hosted cluster on request', () => {
    expect(service(inClusterAccess).type).toBe('LoadBalancer');
    const outside = { ...behind(), serviceAddress: { ip: '192.0.2.10' } };
    expect(decide(outside, {}, inClusterAccess)).toMatchObject({
      endpoint: { host: 'c1.team.clusters.example.com' },
      advertiseAddress: '192.0.2.10',
    });
  });

  it.each([
    ['no address yet', undefined],
    ['the host name lb.example.org but no IP address', { hostname: 'lb.example.org' }],
  ])('is refused for them if it has %s', (given, serviceAddress) => {
    expect(decide({ ...behind(), serviceAddress }, {}, inClusterAccess)).toEqual({
      known: false,
      reason: 'InvalidConfiguration',
      message: `Service s-c1 of type LoadBalancer has ${given}, but inClusterAccess LoadBalancer needs an IP address that pods can connect to: set inClusterAccess to Policy or Proxy`,
    });
  });

  it('gives pods no address without a request', () => {
    const outside = { ...behind(), serviceAddress: { ip: '192.0.2.10' } };
    expect(decide(outside)).not.toHaveProperty('advertiseAddress');
  });
});
