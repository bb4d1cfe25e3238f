import { describe, expect, it } from 'vitest';
import { planCertificates } from '../../../../constructs/control-plane/certificates/plan.ts';
import { restrictedViolations } from '../../../support/pod-security.ts';
import { clusterOf, knownFacts, Rendered } from '../../../support/rendered-cluster.ts';

const tunnelEndpoint = { host: 'tunnel.c1.team.example.org', port: 443 };
const spec = { exposure: { gateway: { namespace: 'ingress', name: 'shared' } }, inClusterAccess: 'Proxy' };
const rendered = new Rendered({ spec }, { tunnelEndpoint, advertiseAddress: undefined });

describe('the tunnel', () => {
  it('exists only for proxies that use it', () => {
    const without = new Rendered(
      { spec: { ...spec, inClusterAccess: 'Policy' } },
      { tunnelEndpoint, advertiseAddress: undefined },
    );
    expect(without.workload('c1-api-server').containers.map(({ name }) => name)).not.toContain('tunnel');
    expect(without.objects.map(({ metadata }) => metadata.name)).not.toContain('c1-tunnel');
  });

  it('is restricted as Pod Security requires, with read-only file systems', () => {
    const { pod, containers } = rendered.workload('c1-api-server');
    const end = containers.find(({ name }) => name === 'tunnel');
    expect(restrictedViolations(pod)).toEqual([]);
    expect(end?.securityContext?.readOnlyRootFilesystem).toBe(true);
    expect(end?.volumeMounts?.filter(({ readOnly }) => !readOnly)).toEqual([]);
  });

  it('is pulled from a mirror if the spec names one', () => {
    const mirrored = new Rendered(
      { spec: { ...spec, proxy: { image: { registry: 'registry.example.org' } } } },
      { tunnelEndpoint, advertiseAddress: undefined },
    );
    const end = mirrored.workload('c1-api-server').containers.find(({ name }) => name === 'tunnel');
    expect(end?.image).toBe('registry.example.org/library/haproxy:3.2.6-alpine');
  });

  it('forwards to its API server', () => {
    const { 'haproxy.cfg': config } = rendered.object('ConfigMap', 'c1-tunnel')['data'] as Record<string, string>;
    expect(config).toContain('server local 127.0.0.1:6443');
    expect(config).toContain('bind "${POD_IP}:6444" ssl crt /etc/tunnel/pki/tls.pem ');
  });

  it('is not restarted for a renewed certificate', () => {
    const renewed = new Rendered(
      { spec },
      { tunnelEndpoint, advertiseAddress: undefined, certificates: { 'c1-tunnel': 'new' } },
    );
    expect(renewed.workload('c1-api-server').template).toEqual(rendered.workload('c1-api-server').template);
  });

  it('has a certificate for its name, of the CA that workers trust', () => {
    const plans = (inClusterAccess: string) => {
      const cluster = clusterOf({ spec: { ...spec, inClusterAccess } });
      return planCertificates(cluster, knownFacts.endpoint, knownFacts.konnectivityEndpoint, tunnelEndpoint);
    };
    expect(plans('Proxy').find(({ secret }) => secret === 'c1-tunnel')).toMatchObject({
      signer: 'cluster',
      usages: ['server'],
      hosts: ['tunnel.c1.team.example.org'],
    });
    expect(plans('Policy').map(({ secret }) => secret)).not.toContain('c1-tunnel');
  });
});
