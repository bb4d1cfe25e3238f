import { describe, expect, it } from 'vitest';
import { wayIn } from '../../../../constructs/control-plane/exposure/exposure.ts';
import { clusterOf, Rendered } from '../../../support/rendered-cluster.ts';

const enter = (exposure: object) => wayIn('c1', clusterOf({ spec: { exposure } }).spec);
const answering = (...loadBalancer: { ip?: string; hostname?: string }[]) => ({ loadBalancer });

describe('a load balancer', () => {
  it('has no endpoint before it has an address', () => {
    for (const service of [undefined, answering()]) {
      expect(enter({ loadBalancer: {} }).endpoint(service)).toMatchObject({
        known: false,
        reason: 'WaitingForLoadBalancerAddress',
        message: expect.stringContaining('s-c1'),
      });
    }
  });

  it('with an address is the endpoint, for pods of the hosted cluster as well', () => {
    expect(enter({ loadBalancer: {} }).endpoint(answering({ ip: '192.0.2.10' }))).toEqual({
      known: true,
      endpoint: { host: '192.0.2.10', port: 6443 },
      konnectivityEndpoint: { host: '192.0.2.10', port: 8132 },
      advertiseAddress: '192.0.2.10',
    });
  });

  it('with a host name is the endpoint, and no address of the kubernetes Service', () => {
    const decision = enter({ loadBalancer: { port: 443 } }).endpoint(answering({ hostname: 'lb.example.org' }));
    expect(decision).toMatchObject({ endpoint: { host: 'lb.example.org', port: 443 }, advertiseAddress: undefined });
  });

  it('with another port serves 6443 too, where pods of the hosted cluster look for it', () => {
    const { service, securePort } = enter({ loadBalancer: { port: 443 } });
    expect(service.apiPorts).toEqual({ api: 443, 'legacy-api': 6443 });
    expect(securePort).toBe(6443);
    expect(enter({ loadBalancer: {} }).service.apiPorts).toEqual({ api: 6443 });
  });

  it('is made the way the user asks for it', () => {
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
    expect(enter({ nodePort }).endpoint(undefined)).toEqual({
      known: true,
      endpoint: { host: '192.0.2.20', port: 30443 },
      konnectivityEndpoint: { host: '192.0.2.20', port: 30132 },
      advertiseAddress: '192.0.2.20',
    });
  });

  it('at a host name give pods of the hosted cluster no address', () => {
    const decision = enter({ nodePort: { ...nodePort, address: 'nodes.example.org' } }).endpoint(undefined);
    expect(decision).toMatchObject({ known: true, advertiseAddress: undefined });
  });

  it('are the ones the API server itself listens on, so that the kubernetes Service leads there', () => {
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

it('a gateway is accepted and said to be unsupported', () => {
  expect(enter({ gateway: { name: 'g', namespace: 'n' } }).endpoint(undefined)).toMatchObject({
    known: false,
    reason: 'ExposureNotSupported',
    message: expect.stringContaining('exposure.loadBalancer'),
  });
});
