import { describe, expect, it } from 'vitest';
import { exposureStrategy } from '../../../../constructs/control-plane/exposure/exposure.ts';
import type { ServiceAddress } from '../../../../constructs/cluster/facts.ts';
import { clusterOf, Rendered } from '../../../support/rendered-cluster.ts';

const enter = (exposure: object) => exposureStrategy(clusterOf({ spec: { exposure } }).spec);
/** The decision for a cluster without a fixed endpoint. */
const decide = (exposure: object, serviceAddress?: ServiceAddress) =>
  enter(exposure).endpoint(clusterOf({ spec: { exposure } }), { serviceAddress }, {});

describe('a load balancer', () => {
  it('has no endpoint before it has an address', () => {
    expect(decide({ loadBalancer: {} })).toMatchObject({
      known: false,
      message: expect.stringContaining('Service s-c1 of type LoadBalancer has no address yet'),
    });
  });

  it('with an address is the endpoint, for pods of the hosted cluster as well', () => {
    expect(decide({ loadBalancer: {} }, { ip: '192.0.2.10' })).toEqual({
      known: true,
      endpoint: { host: '192.0.2.10', port: 6443 },
      konnectivityEndpoint: { host: '192.0.2.10', port: 8132 },
      advertiseAddress: '192.0.2.10',
    });
  });

  it('with a host name is the endpoint, but gives the kubernetes Service no address', () => {
    const decision = decide({ loadBalancer: { port: 443 } }, { hostname: 'lb.example.org' });
    expect(decision).toMatchObject({ endpoint: { host: 'lb.example.org', port: 443 }, advertiseAddress: undefined });
  });

  it('with another port serves 6443 too, where pods of the hosted cluster expect it', () => {
    const { service, securePort } = enter({ loadBalancer: { port: 443 } });
    expect(service.apiPorts).toEqual({ api: 443, 'legacy-api': 6443 });
    expect(securePort).toBe(6443);
    expect(enter({ loadBalancer: {} }).service.apiPorts).toEqual({ api: 6443 });
  });

  it('is rendered with the settings of the user', () => {
    const rendered = new Rendered({
      spec: {
        exposure: {
          loadBalancer: {
            annotations: { 'example.org/pool': 'a' },
            loadBalancerClass: 'example.org/fast',
            loadBalancerIP: '192.0.2.77',
            loadBalancerSourceRanges: ['192.0.2.0/24'],
          },
        },
      },
    });
    const service = rendered.object('Service', 's-c1');
    expect(service.metadata.annotations).toEqual({ 'example.org/pool': 'a' });
    expect(service['spec']).toMatchObject({
      type: 'LoadBalancer',
      loadBalancerClass: 'example.org/fast',
      loadBalancerIP: '192.0.2.77',
      loadBalancerSourceRanges: ['192.0.2.0/24'],
    });
  });
});

describe('node ports', () => {
  const nodePort = { address: '192.0.2.20', port: 30443, konnectivityPort: 30132 };

  it('are an endpoint that is known before anything exists', () => {
    expect(decide({ nodePort })).toEqual({
      known: true,
      endpoint: { host: '192.0.2.20', port: 30443 },
      konnectivityEndpoint: { host: '192.0.2.20', port: 30132 },
      advertiseAddress: '192.0.2.20',
    });
  });

  it('with a host name give pods of the hosted cluster no address', () => {
    const decision = decide({ nodePort: { ...nodePort, address: 'nodes.example.org' } });
    expect(decision).toMatchObject({ known: true, advertiseAddress: undefined });
  });

  it('are the ports that the API server itself listens on, so that the kubernetes Service works', () => {
    const rendered = new Rendered({ spec: { exposure: { nodePort } } });
    expect(rendered.flags('c1-api-server', 'kube-apiserver')['secure-port']).toBe('30443');
    expect(rendered.object('Service', 's-c1')['spec']).toMatchObject({
      type: 'NodePort',
      ports: [
        { name: 'api', port: 6443, nodePort: 30443, targetPort: 'api' },
        { name: 'konnectivity', port: 8132, nodePort: 30132, targetPort: 'konnectivity' },
      ],
    });
  });
});

it('a cluster with its own Service is reached without a tunnel', () => {
  for (const exposure of [
    { loadBalancer: {} },
    { nodePort: { address: '192.0.2.20', port: 30443, konnectivityPort: 30132 } },
  ]) {
    const cluster = clusterOf({ spec: { exposure, inClusterAccess: 'Proxy' } });
    const way = exposureStrategy(cluster.spec);
    expect(way.service.tunnelPort).toBeUndefined();
    expect(way.endpoint(cluster, { serviceAddress: { ip: '192.0.2.10' } }, {})).not.toHaveProperty('tunnelEndpoint');
  }
});
