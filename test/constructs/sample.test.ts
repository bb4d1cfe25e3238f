import { describe, expect, it } from 'vitest';
import { readSample } from '../../constructs/sample.ts';

const cluster = { kind: 'Cluster', metadata: { name: 'c1', namespace: 'team' }, spec: {} };
const hostedControlPlane = (spec: object) => ({
  apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha1',
  kind: 'HostedControlPlane',
  metadata: { name: 'c1-x7k2p', namespace: 'team' },
  spec: { version: 'v1.36.3', ...spec },
});
const gateway = {
  kind: 'Gateway',
  metadata: { name: 'capi', namespace: 'capi-system' },
  spec: {
    listeners: [
      {
        name: 'tls',
        protocol: 'TLS',
        port: 443,
        hostname: '*.example.com',
        tls: { mode: 'Passthrough' },
        allowedRoutes: { namespaces: { from: 'All' } },
      },
    ],
  },
};
const read = (exposure: object, clusterNetwork = {}) =>
  readSample([{ ...cluster, spec: { clusterNetwork } }, hostedControlPlane({ exposure }), gateway]);

describe('a sample', () => {
  it('is named after its Cluster', () => {
    expect(read({ loadBalancer: {} }).cluster).toMatchObject({ name: 'c1', namespace: 'team' });
  });

  it.each([
    ['an address for documentation', {}, {}, '192.0.2.10'],
    ['the address it requests', { loadBalancerIP: '192.0.2.77' }, {}, '192.0.2.77'],
    ['a host name from AWS', { loadBalancerClass: 'service.k8s.aws/nlb' }, {}, 'c1.elb.example.com'],
    ['an IPv6 address for IPv6 services', {}, { services: { cidrBlocks: ['fd00::/112'] } }, '2001:db8::10'],
  ])('gets %s from its load balancer', (_, loadBalancer, network, host) => {
    expect(read({ loadBalancer }, network).facts.endpoint?.host).toBe(host);
  });

  it('is reached through its Gateway', () => {
    expect(read({ gateway: { name: 'capi', namespace: 'capi-system' } }).facts).toMatchObject({
      endpoint: { host: 'c1.team.example.com', port: 443 },
      gatewayListener: 'tls',
      tlsRouteVersion: 'v1',
    });
  });

  it('keeps its specified endpoint', () => {
    const spec = { exposure: { loadBalancer: {} }, controlPlaneEndpoint: { host: 'api.example.com' } };
    expect(readSample([cluster, hostedControlPlane(spec)]).facts.endpoint).toEqual({
      host: 'api.example.com',
      port: 6443,
    });
  });

  it('whose Gateway is not among the objects is reached through an example', () => {
    expect(read({ gateway: { name: 'g', namespace: 'n' } })).toMatchObject({
      exampleGateway: 'n/g',
      facts: { endpoint: { host: 'c1.team.example.com', port: 443 }, tlsRouteVersion: 'v1' },
    });
  });

  it('that is invalid is refused, with the error', () => {
    expect(() => readSample([cluster, hostedControlPlane({})])).toThrow('HostedControlPlane of cluster c1: spec');
    expect(() => readSample([cluster])).toThrow('add a HostedControlPlane');
    const twice = { exposure: { loadBalancer: {} }, replicsa: 3, etcd: { replicsa: 3 } };
    expect(() => readSample([cluster, hostedControlPlane(twice)])).toThrow(
      /^HostedControlPlane of cluster c1: 2 problems\n- spec\.\S*replicsa: is no field .*\n- spec\.\S*replicsa: is no field/,
    );
  });
});
