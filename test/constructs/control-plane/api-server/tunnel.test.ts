import { describe, expect, it } from 'vitest';
import { planCertificates } from '../../../../constructs/control-plane/certificates/certificate-plans.ts';
import { restrictedViolations } from '../../../support/pod-security.ts';
import { clusterOf, knownFacts, Rendered } from '../../../support/rendered-cluster.ts';

const tunnelEndpoint = { host: 'tunnel.c1.team.example.org', port: 443 };
const spec = { exposure: { gateway: { namespace: 'ingress', name: 'shared' } }, inClusterAccess: 'Proxy' };
const rendered = new Rendered({ spec }, { tunnelEndpoint, advertiseAddress: undefined });

describe('the tunnel', () => {
  const ingress = { apiHost: 'api.example.org', konnectivityHost: 'agents.example.org' };
  const tunnelHost = 'pods.example.org';
  const policy = { inClusterAccess: 'Policy' };
  it.each<[string, object, boolean]>([
    ['Proxy', {}, true],
    ['Policy', policy, true],
    ['Policy, with a CA that they do not trust', { ...policy, certificates: { issuerRef: { name: 'ours' } } }, false],
    ['Policy, behind an ingress with its host', { ...policy, exposure: { ingress: { ...ingress, tunnelHost } } }, true],
    ['Policy, behind an ingress without a host for it', { ...policy, exposure: { ingress } }, false],
    ['LoadBalancer', { inClusterAccess: 'LoadBalancer' }, false],
  ])('exists only for proxies that use it: %s', (_, changes, exists) => {
    const those = new Rendered({ spec: { ...spec, ...changes } }, { tunnelEndpoint, advertiseAddress: undefined });
    const names = those.workload('c1-api-server').containers.map(({ name }) => name);
    expect(names.includes('tunnel')).toBe(exists);
    expect(those.objects.some(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'c1-tunnel')).toBe(
      exists,
    );
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
    const plans = (inClusterAccess: 'Policy' | 'Proxy' | 'LoadBalancer') => {
      const cluster = clusterOf({ spec: { ...spec, inClusterAccess } });
      return planCertificates(cluster, knownFacts.endpoint, knownFacts.konnectivityEndpoint, tunnelEndpoint);
    };
    for (const access of ['Proxy', 'Policy'] as const) {
      expect(plans(access).find(({ secret }) => secret === 'c1-tunnel')).toMatchObject({
        signer: 'cluster',
        usages: ['server'],
        hosts: ['tunnel.c1.team.example.org'],
      });
    }
    expect(plans('LoadBalancer').map(({ secret }) => secret)).not.toContain('c1-tunnel');
  });
});
