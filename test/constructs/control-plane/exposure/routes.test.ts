import { describe, expect, it } from 'vitest';
import { renderControlPlane } from '../../../../constructs/control-plane/chart.ts';
import type { Facts } from '../../../../constructs/cluster/facts.ts';
import { clusterOf, knownFacts } from '../../../support/rendered-cluster.ts';

const at = (host: string) => ({ host, port: 443 });
const facts: Facts = {
  ...knownFacts,
  endpoint: at('api.Example.org'),
  konnectivityEndpoint: at('agents.example.org'),
  gatewayListener: 'tls',
  tlsRouteVersion: 'v1',
};
const tunnel = { tunnelEndpoint: at('pods.example.org') };
const gateway = { namespace: 'capi-system', name: 'capi' };
const hosts = { apiHost: 'api.example.org', konnectivityHost: 'agents.example.org' };

function routes(exposure: object, changes: Partial<Facts> = {}) {
  return renderControlPlane(clusterOf({ spec: { exposure } }), { ...facts, ...changes }, 'routes');
}

describe('the routes of a gateway', () => {
  it('route each host name from the chosen listener to its port of the Service', () => {
    const rendered = routes({ gateway }, tunnel);
    expect(rendered.map(({ metadata, spec }) => ({ name: metadata.name, spec }))).toEqual(
      [
        ['c1-api', 'api.example.org', 6443],
        ['c1-konnectivity', 'agents.example.org', 8132],
        ['c1-tunnel', 'pods.example.org', 6444],
      ].map(([name, host, port]) => ({
        name,
        spec: {
          parentRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', ...gateway, sectionName: 'tls' }],
          hostnames: [host],
          rules: [{ backendRefs: [{ group: '', kind: 'Service', name: 's-c1', port, weight: 1 }] }],
        },
      })),
    );
  });

  it.each(['v1', 'v1alpha3', 'v1alpha2'])('are written in %s if that is served', (tlsRouteVersion) => {
    const versions = routes({ gateway }, { tlsRouteVersion }).map(({ apiVersion }) => apiVersion);
    expect(new Set(versions)).toEqual(new Set([`gateway.networking.k8s.io/${tlsRouteVersion}`]));
  });

  it.each<[string, Partial<Facts>]>([
    ['hosts', { endpoint: undefined, konnectivityEndpoint: undefined }],
    ['listener', { gatewayListener: undefined }],
    ['version', { tlsRouteVersion: undefined }],
  ])('are none before the %s is known', (_, changes) => {
    expect(routes({ gateway }, changes)).toEqual([]);
  });

  it('include no tunnel if no proxy uses it', () => {
    expect(routes({ gateway }).map(({ metadata }) => metadata.name)).toEqual(['c1-api', 'c1-konnectivity']);
  });
});

describe('the routes of an ingress controller', () => {
  it.each([
    ['haproxy', 'haproxy.org/ssl-passthrough'],
    ['haproxy-ingress', 'haproxy-ingress.github.io/ssl-passthrough'],
    ['nginx', 'nginx.ingress.kubernetes.io/ssl-passthrough'],
  ])('are Ingresses with the TLS passthrough of %s', (controller, annotation) => {
    const rendered = routes({ ingress: { ...hosts, controller, className: 'shared' } }, tunnel);
    const path = (number: number) => ({
      path: '/',
      pathType: 'Prefix',
      backend: { service: { name: 's-c1', port: { number } } },
    });
    expect(rendered.map(({ metadata, spec }) => [metadata.name, metadata.annotations, spec])).toEqual(
      [
        ['c1-api', 'api.example.org', 6443] as const,
        ['c1-konnectivity', 'agents.example.org', 8132] as const,
        ['c1-tunnel', 'pods.example.org', 6444] as const,
      ].map(([name, host, port]) => [
        name,
        { [annotation]: 'true' },
        { ingressClassName: 'shared', rules: [{ host, http: { paths: [path(port)] } }] },
      ]),
    );
  });

  it('use the default class of the management cluster if none is specified', () => {
    for (const { spec } of routes({ ingress: hosts })) expect(spec).not.toHaveProperty('ingressClassName');
  });

  it("have the user's annotations, which take precedence", () => {
    const annotations = { 'haproxy.org/ssl-passthrough': 'false', 'example.org/dns': 'yes' };
    const rendered = routes({ ingress: { ...hosts, annotations } });
    expect(rendered).toHaveLength(2);
    for (const { metadata } of rendered) expect(metadata.annotations).toEqual(annotations);
  });

  it("are of Traefik's own kind for Traefik", () => {
    const annotations = { 'kubernetes.io/ingress.class': 'edge' };
    const rendered = routes({ ingress: { ...hosts, controller: 'traefik', annotations } }, tunnel);
    expect(rendered.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`)).toEqual(
      Array.from({ length: 3 }, () => 'traefik.io/v1alpha1 IngressRouteTCP'),
    );
    expect(rendered.map(({ metadata, spec }) => [metadata.name, metadata.annotations, spec])).toEqual(
      [
        ['c1-api', 'api.example.org', 6443] as const,
        ['c1-konnectivity', 'agents.example.org', 8132] as const,
        ['c1-tunnel', 'pods.example.org', 6444] as const,
      ].map(([name, host, port]) => [
        name,
        annotations,
        {
          entryPoints: ['websecure'],
          routes: [{ match: `HostSNI(\`${host}\`)`, services: [{ name: 's-c1', port }] }],
          tls: { passthrough: true },
        },
      ]),
    );
  });

  it('are not rendered if the user creates them', () => {
    for (const controller of ['haproxy', 'traefik']) {
      expect(routes({ ingress: { ...hosts, controller, deploy: false } })).toEqual([]);
    }
  });
});

it('exposure strategies with their own address need no routes', () => {
  const nodePort = { address: '192.0.2.20', port: 30443, konnectivityPort: 30132 };
  for (const exposure of [{ loadBalancer: {} }, { nodePort }]) expect(routes(exposure)).toEqual([]);
});
