import { describe, expect, it } from 'vitest';
import {
  inClusterAccessOf,
  keepingProxies,
  policyApiVersion,
  unsupportedInClusterAccess,
  missingTunnel,
  needsTunnel,
  usesTunnel,
} from '../../../constructs/cluster/in-cluster-access.ts';
import { InClusterAccess } from '../../../constructs/api/in-cluster-access-spec.ts';
import { releaseOf } from '../../../constructs/cluster/release-revisions.ts';
import { apiServerFlags } from '../../../constructs/control-plane/api-server/flags.ts';
import { mergeFlags } from '../../../constructs/pod/flags.ts';
import { clusterOf, Rendered } from '../../support/rendered-cluster.ts';

const gateway = { gateway: { namespace: 'ingress', name: 'shared' } };
const ingress = { ingress: { apiHost: 'c1.example.org', konnectivityHost: 'k.c1.example.org' } };
const withTunnelHost = { ingress: { ...ingress.ingress, tunnelHost: 't.c1.example.org' } };
const loadBalancer = { loadBalancer: {} };
const nodePort = { nodePort: { address: '192.0.2.20', port: 30443, konnectivityPort: 30132 } };

const cluster = (exposure: object, version: string, inClusterAccess?: string) =>
  clusterOf({ spec: { exposure, version, ...(inClusterAccess ? { inClusterAccess } : {}) } });

const address = '192.0.2.10';

describe('the access of pods to their API server', () => {
  it.each([
    { exposure: loadBalancer, version: 'v1.36.3', advertiseAddress: address, access: 'LoadBalancer' },
    { exposure: nodePort, version: 'v1.33.1', advertiseAddress: address, access: 'LoadBalancer' },
    { exposure: loadBalancer, version: 'v1.34.4', advertiseAddress: undefined, access: 'Policy' },
    { exposure: gateway, version: 'v1.36.3', advertiseAddress: undefined, access: 'Policy' },
    { exposure: gateway, version: 'v1.33.1', advertiseAddress: undefined, access: 'Proxy' },
    { exposure: loadBalancer, version: '1.32', advertiseAddress: undefined, access: 'Proxy' },
  ])('is $access at $version by default, with address $advertiseAddress', (it) => {
    expect(inClusterAccessOf(cluster(it.exposure, it.version), it)).toBe(it.access);
  });

  it.each(['Policy', 'Proxy', 'LoadBalancer'])('is %s if the spec says so', (access) => {
    const requested = cluster(loadBalancer, 'v1.36.3', access);
    expect(inClusterAccessOf(requested, { advertiseAddress: address })).toBe(access);
    expect(inClusterAccessOf(requested, { advertiseAddress: undefined })).toBe(access);
  });
});

describe('proxies', () => {
  const upgraded = cluster(gateway, 'v1.34.4').spec;
  const now = { advertiseAddress: undefined };

  it('are kept in an upgrade that would make a policy the default', () => {
    const spec = keepingProxies(upgraded, 'Proxy');
    expect(inClusterAccessOf({ spec }, now)).toBe('Proxy');
    expect(usesTunnel(spec)).toBe(true);
  });

  it('are removed if the spec says so, and are not added if there were none', () => {
    const requested = cluster(gateway, 'v1.34.4', 'Policy').spec;
    expect(inClusterAccessOf({ spec: keepingProxies(requested, 'Proxy') }, now)).toBe('Policy');
    for (const inUse of ['Policy', 'LoadBalancer', undefined] as const) {
      expect(keepingProxies(upgraded, inUse)).toEqual(upgraded);
    }
  });
});

describe('a tunnel', () => {
  it.each([
    { exposure: gateway, version: 'v1.36.3', access: 'Proxy', tunnel: true },
    { exposure: ingress, version: 'v1.36.3', access: 'Proxy', tunnel: true },
    { exposure: ingress, version: 'v1.33.1', access: undefined, tunnel: true },
    { exposure: gateway, version: 'v1.34.0', access: undefined, tunnel: true },
    { exposure: gateway, version: 'v1.36.3', access: 'Policy', tunnel: true },
    { exposure: ingress, version: 'v1.36.3', access: 'Policy', tunnel: false },
    { exposure: withTunnelHost, version: 'v1.36.3', access: 'Policy', tunnel: true },
    { exposure: withTunnelHost, version: 'v1.36.3', access: 'LoadBalancer', tunnel: false },
    { exposure: loadBalancer, version: 'v1.36.3', access: 'Policy', tunnel: false },
    { exposure: gateway, version: 'v1.33.1', access: 'LoadBalancer', tunnel: false },
    { exposure: loadBalancer, version: 'v1.36.3', access: 'Proxy', tunnel: false },
    { exposure: nodePort, version: 'v1.33.1', access: undefined, tunnel: false },
  ])('is $tunnel at $version with access $access behind $exposure', ({ exposure, version, access, tunnel }) => {
    expect(usesTunnel(cluster(exposure, version, access).spec)).toBe(tunnel);
  });
});

describe('a tunnel for the Service kubernetes only', () => {
  const issued = { certificates: { issuerRef: { name: 'ours' } } };
  const specOf = (exposure: object, access: string, changes: object = {}) =>
    clusterOf({ spec: { exposure, inClusterAccess: access, ...changes } }).spec;

  it.each<[string, object, string, object, string]>([
    ['behind a gateway', gateway, 'Policy', {}, 'none'],
    ['behind an ingress with a host for it', withTunnelHost, 'Policy', {}, 'none'],
    ['behind an ingress', ingress, 'Policy', {}, 'tunnelHost is not set: set it to a host name that DNS resolves'],
    ['with an issuer', gateway, 'Policy', issued, 'remove certificates.issuerRef'],
    ['with an issuer and an address', loadBalancer, 'Policy', issued, 'none'],
    ['with proxies', ingress, 'Proxy', {}, 'none'],
    ['with an address of its own', ingress, 'LoadBalancer', {}, 'none'],
  ])('is there, is not necessary, or is missing for a reason: %s', (_, exposure, access, changes, reason) => {
    const spec = specOf(exposure, access, changes);
    expect(missingTunnel(spec) ?? 'none').toContain(reason);
    expect(needsTunnel(spec)).toBe(access === 'Proxy');
  });

  it('is not missed by proxies with an issuer, whose CA is refused instead', () => {
    expect(usesTunnel(specOf(gateway, 'Proxy', issued))).toBe(true);
    expect(usesTunnel(specOf(gateway, 'Policy', issued))).toBe(false);
  });
});

describe('the unsupported in-cluster access', () => {
  it('is a policy before Kubernetes supports it', () => {
    expect(unsupportedInClusterAccess(cluster(gateway, 'v1.33.1', 'Policy'), { advertiseAddress: undefined })).toBe(
      'inClusterAccess Policy needs Kubernetes 1.34 or newer, but spec.version is v1.33.1: set inClusterAccess to Proxy, or remove it',
    );
  });

  it('is the address of a load balancer that has only a host name', () => {
    const requested = cluster(gateway, 'v1.36.3', 'LoadBalancer');
    expect(unsupportedInClusterAccess(requested, { advertiseAddress: undefined })).toContain(
      'set inClusterAccess to Policy or Proxy',
    );
    expect(unsupportedInClusterAccess(requested, { advertiseAddress: address })).toBeUndefined();
  });

  it.each([
    { version: 'v1.36.3', access: 'Policy' },
    { version: 'v1.34.0', access: 'Policy' },
    { version: 'v1.32.0', access: 'Proxy' },
    { version: 'v1.32.0', access: undefined },
  ])('is not $access at $version', ({ version, access }) => {
    const requested = cluster(gateway, version, access);
    expect(unsupportedInClusterAccess(requested, { advertiseAddress: undefined })).toBeUndefined();
  });
});

it('policies are served as v1beta1 until 1.36 serves v1', () => {
  expect(['1.34', 'v1.35.9', 'v1.36.0', 'v1.37.0'].map(policyApiVersion)).toEqual(['v1beta1', 'v1beta1', 'v1', 'v1']);
});

describe('the API server', () => {
  const flags = (spec: object, advertiseAddress?: string) =>
    new Rendered({ spec }, { advertiseAddress }).flags('c1-api-server', 'kube-apiserver');
  const policyGate = 'MutatingAdmissionPolicy=true';
  const policyApi = 'admissionregistration.k8s.io/v1beta1=true';

  it('takes no address out of the Service that others still serve at: it writes none', () => {
    for (const inClusterAccess of InClusterAccess.options) {
      const written = flags({ inClusterAccess }, address);
      expect(written).toMatchObject({ 'endpoint-reconciler-type': 'none' });
      expect(written).not.toHaveProperty('advertise-address');
    }
  });

  it('of the first release revision advertises an address if pods use it', () => {
    const first = (inClusterAccess: InClusterAccess) => {
      const cluster = { ...clusterOf({ spec: { inClusterAccess } }), release: releaseOf(36, 1) };
      return mergeFlags(apiServerFlags(cluster, { host: address, port: 6443 }, { advertiseAddress: address }), {});
    };
    expect(first('LoadBalancer')).toMatchObject({ 'advertise-address': address });
    expect(first('LoadBalancer')).not.toHaveProperty('endpoint-reconciler-type');
    expect(first('Policy')).toMatchObject({ 'endpoint-reconciler-type': 'none' });
  });

  it.each(['v1.34.4', 'v1.35.0'])('of %s enables policies if they are used', (version) => {
    expect(flags({ version })).toMatchObject({ 'feature-gates': policyGate, 'runtime-config': policyApi });
    for (const used of [flags({ version, inClusterAccess: 'Proxy' }), flags({ version }, address)]) {
      expect(used).not.toHaveProperty('feature-gates');
      expect(used).not.toHaveProperty('runtime-config');
    }
  });

  it('of 1.36 has policies without a feature gate', () => {
    expect(flags({ version: 'v1.36.3' })).not.toHaveProperty('feature-gates');
  });

  it("keeps the user's feature gates and APIs beside its own", () => {
    const args = { 'feature-gates': 'MutatingAdmissionPolicy=false,Other=false', 'runtime-config': 'api/beta=true' };
    expect(flags({ version: 'v1.34.4', deployment: { apiServer: { args } } })).toMatchObject({
      'feature-gates': `Other=false,${policyGate}`,
      'runtime-config': `api/beta=true,${policyApi}`,
    });
  });
});
