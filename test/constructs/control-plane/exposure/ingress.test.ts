import { describe, expect, it } from 'vitest';
import { exposureStrategy } from '../../../../constructs/control-plane/exposure/exposure.ts';
import type { Endpoint } from '../../../../constructs/cluster/facts.ts';
import { clusterOf } from '../../../support/rendered-cluster.ts';

const hosts = { apiHost: 'api.example.org', konnectivityHost: 'agents.example.org' };

function decide(ingress: object = {}, preset: Partial<Endpoint> = {}, spec: object = {}) {
  const cluster = clusterOf({ spec: { exposure: { ingress: { ...hosts, ...ingress } }, ...spec } });
  return exposureStrategy(cluster.spec).endpoint(cluster, {}, preset);
}

describe('an ingress', () => {
  const known = {
    known: true,
    endpoint: { host: 'api.example.org', port: 443 },
    konnectivityEndpoint: { host: 'agents.example.org', port: 443 },
  };

  it('has the specified hosts and port', () => {
    expect(decide()).toEqual(known);
    const ingress = { port: 8443, tunnelHost: 'pods.example.org' };
    expect(decide(ingress, {}, { inClusterAccess: 'Proxy' })).toMatchObject({
      endpoint: { host: 'api.example.org', port: 8443 },
      konnectivityEndpoint: { host: 'agents.example.org', port: 8443 },
      tunnelEndpoint: { host: 'pods.example.org', port: 8443 },
    });
  });

  it('derives a host for the tunnel if one is needed', () => {
    expect(decide({}, {}, { version: 'v1.33.0' })).toMatchObject({
      tunnelEndpoint: { host: 'tunnel.api.example.org', port: 443 },
    });
  });

  it('has a tunnel for the Service kubernetes only at a given host', () => {
    const tunnelHost = 'pods.example.org';
    expect(decide({ tunnelHost })).toEqual({ ...known, tunnelEndpoint: { host: tunnelHost, port: 443 } });
  });

  it('has them also if the user creates the routes', () => {
    expect(decide({ deploy: false })).toEqual(known);
  });

  it('keeps an equal fixed endpoint', () => {
    expect(decide({}, { host: 'API.example.org' })).toEqual(known);
    expect(decide({}, { host: 'api.example.org', port: 443 })).toEqual(known);
  });

  it.each<[string, object, Partial<Endpoint>, string, string]>([
    [
      'another host is fixed',
      {},
      { host: 'old.example.org', port: 443 },
      'EndpointMismatch',
      'the endpoint is old.example.org:443 and cannot change, but exposure.ingress.apiHost is api.example.org: set it to old.example.org',
    ],
    [
      'an address is fixed',
      {},
      { host: '192.0.2.10', port: 443 },
      'EndpointMismatch',
      'but exposure.ingress.apiHost is api.example.org',
    ],
    ['another port is fixed', {}, { port: 6443 }, 'EndpointMismatch', 'set its port to 6443'],
    [
      'a name is too long',
      { apiHost: `${'a'.repeat(64)}.example.org` },
      {},
      'InvalidConfiguration',
      'has 64 characters, and DNS allows 63: set shorter host names in exposure.ingress',
    ],
  ])('has no endpoint and a reason when %s', (_, ingress, preset, reason, message) => {
    expect(decide(ingress, preset)).toEqual({ known: false, reason, message: expect.stringContaining(message) });
  });

  it('has the same Service as a gateway', () => {
    const spec = (changes: object) => clusterOf({ spec: { exposure: { ingress: hosts }, ...changes } }).spec;
    expect(exposureStrategy(spec({})).service).toEqual({ type: 'ClusterIP', apiPorts: { api: 6443 } });
    expect(exposureStrategy(spec({ inClusterAccess: 'Proxy' })).service.tunnelPort).toBe(6444);
    expect(exposureStrategy(spec({ inClusterAccess: 'LoadBalancer' })).service.type).toBe('LoadBalancer');
  });
});
