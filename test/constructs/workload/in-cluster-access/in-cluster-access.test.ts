import { describe, expect, it } from 'vitest';
import { haproxyFiles } from '../../../../constructs/pod/haproxy.ts';
import type { RenderedObject } from '../../../../constructs/control-plane/chart.ts';
import type { Facts } from '../../../../constructs/cluster/facts.ts';
import { renderWorkload } from '../../../../constructs/workload/chart.ts';
import { isStaleSlice } from '../../../../constructs/workload/in-cluster-access/kubernetes-service.ts';
import { releaseOf } from '../../../../constructs/cluster/release-revisions.ts';
import { proxyLabels } from '../../../../constructs/workload/in-cluster-access/proxy.ts';
import { type ClusterChanges, clusterOf, knownFacts } from '../../../support/rendered-cluster.ts';
import { identityOf, workloadsOf } from '../../../support/rendered-objects.ts';

const gateway = { exposure: { gateway: { namespace: 'ingress', name: 'shared' } } };
const ingress = { exposure: { ingress: { apiHost: 'api.example.org', konnectivityHost: 'k.example.org' } } };
const tunnelEndpoint = { host: 'tunnel.c1.team.example.org', port: 443 };
const behindGateway: Partial<Facts> = {
  endpoint: { host: 'c1.team.example.org', port: 443 },
  tunnelEndpoint,
  advertiseAddress: undefined,
};

const render = (spec: object, facts: Partial<Facts> = {}, network: ClusterChanges['network'] = {}): RenderedObject[] =>
  renderWorkload(clusterOf({ spec, network }), { ...knownFacts, ...facts }, 'in-cluster-access');

const service = (objects: readonly RenderedObject[]) => objects.find(({ kind }) => kind === 'Service');

/** The configuration of the proxy. */
function configOf(objects: readonly RenderedObject[]): string {
  const { data } = objects.find(({ kind }) => kind === 'ConfigMap') as unknown as { data: Record<string, string> };
  return data[haproxyFiles.config] ?? '';
}

describe('a cluster whose API server has an address', () => {
  const written = ['Endpoints default/kubernetes', 'EndpointSlice default/kubernetes', 'Service default/kubernetes'];

  it('applies the kubernetes Service without a spec, and the address behind it', () => {
    const objects = render({});
    expect(objects.map(identityOf)).toEqual(written);
    expect(service(objects)).not.toHaveProperty('spec');
    const ports = [{ name: 'https', port: 6443, protocol: 'TCP' }];
    expect(objects[0]).toMatchObject({
      metadata: { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
      subsets: [{ addresses: [{ ip: '192.0.2.10' }], ports }],
    });
    expect(objects[1]).toMatchObject({
      metadata: { labels: { 'kubernetes.io/service-name': 'kubernetes' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['192.0.2.10'], conditions: { ready: true } }],
      ports,
    });
  });

  it('has an address of its own family', () => {
    const [, slice] = render({}, { advertiseAddress: '2001:db8::10' });
    expect(slice).toMatchObject({ addressType: 'IPv6', endpoints: [{ addresses: ['2001:db8::10'] }] });
  });

  it('leaves the address to API servers of the first release revision', () => {
    const first = { ...clusterOf(), release: releaseOf(36, 1) };
    expect(renderWorkload(first, knownFacts, 'in-cluster-access').map(identityOf)).toEqual(written.slice(2));
  });
});

describe('policies', () => {
  const policies = (version: string) => render({ ...gateway, version }, behindGateway).slice(0, -1);

  it.each([
    { version: 'v1.36.3', apiVersion: 'admissionregistration.k8s.io/v1' },
    { version: 'v1.34.4', apiVersion: 'admissionregistration.k8s.io/v1beta1' },
  ])('are $apiVersion in $version, each with a binding of the same name', ({ version, apiVersion }) => {
    expect(policies(version).map((object) => [object.apiVersion, identityOf(object)])).toEqual(
      ['hosted-control-plane-api-server', 'hosted-control-plane-api-server-ephemeral'].flatMap((name) => [
        [apiVersion, `MutatingAdmissionPolicy /${name}`],
        [apiVersion, `MutatingAdmissionPolicyBinding /${name}`],
      ]),
    );
  });

  it('do not prevent the creation of pods', () => {
    const specs = policies('v1.36.3').map(({ spec }) => spec as { failurePolicy?: string; policyName?: string });
    expect(specs.map(({ failurePolicy, policyName }) => failurePolicy ?? policyName)).toEqual([
      'Ignore',
      'hosted-control-plane-api-server',
      'Ignore',
      'hosted-control-plane-api-server-ephemeral',
    ]);
  });

  it('do not change the kubernetes Service that no tunnel can serve', () => {
    expect(service(render(ingress, behindGateway))).not.toHaveProperty('spec');
  });

  it('are not rendered if Kubernetes does not support them', () => {
    const objects = render({ ...gateway, version: 'v1.33.1', inClusterAccess: 'Policy' }, behindGateway);
    expect(objects.map(identityOf)).toEqual(['Service default/kubernetes']);
  });
});

describe('the proxy of a node', () => {
  const objects = render({ ...gateway, inClusterAccess: 'Proxy' }, behindGateway);
  const daemonSet = objects.find(({ kind }) => kind === 'DaemonSet')!;
  const { pod, selector, containers } = workloadsOf([{ ...daemonSet, kind: 'Deployment' }])[0]!;

  it('is the endpoint of the kubernetes Service, on the same node only', () => {
    expect(service(objects)).toMatchObject({
      metadata: { namespace: daemonSet.metadata.namespace },
      spec: { selector, internalTrafficPolicy: 'Local' },
    });
  });

  it('runs before the pod network and cluster DNS, on every node', () => {
    expect(pod).toMatchObject({
      hostNetwork: true,
      dnsPolicy: 'Default',
      tolerations: [{ operator: 'Exists' }],
      priorityClassName: 'system-node-critical',
    });
  });

  it('has no key and no token', () => {
    expect(pod.automountServiceAccountToken).toBe(false);
    expect(JSON.stringify(pod.volumes)).not.toMatch(/secret|serviceAccountToken/i);
    expect(configOf(objects)).not.toMatch(/ crt /);
  });

  it('has no more rights than any other pod', () => {
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(containers[0]?.securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  it('is replaced only when the new pod listens', () => {
    expect(daemonSet['spec']).toMatchObject({ updateStrategy: { rollingUpdate: { maxUnavailable: 0 } } });
    // A port that is declared on the host's network can be used by one pod only: the two could not run together.
    expect(containers[0]?.ports).toEqual([]);
  });

  it('connects to the tunnel by its name, and accepts only a certificate of the cluster for that name', () => {
    const config = configOf(objects);
    expect(config).toContain('server-template endpoint 4 tunnel.c1.team.example.org:443 ');
    expect(config).toContain(' ssl sni str(tunnel.c1.team.example.org) verify required ');
    expect(config).toContain(' verifyhost tunnel.c1.team.example.org ca-file /etc/proxy/authority/ca.crt ');
    expect(config).toContain('bind "${HOST_IP}:6443"');
  });

  it('connects directly to an endpoint that is an address', () => {
    const plain = render({ inClusterAccess: 'Proxy' });
    expect(configOf(plain)).toContain('server endpoint 192.0.2.10:6443\n');
    expect(configOf(plain)).not.toContain(' ssl ');
    expect(JSON.stringify(plain)).not.toContain('kube-root-ca.crt');
  });

  it('listens on the port that the kubernetes Service uses', () => {
    const nodePort = { address: 'nodes.example.org', port: 30443, konnectivityPort: 30132 };
    const spec = { exposure: { nodePort }, inClusterAccess: 'Proxy' };
    const config = configOf(render(spec, { endpoint: { host: 'nodes.example.org', port: 30443 } }));
    expect(config).toContain('bind "${HOST_IP}:30443"');
    expect(config).toContain('server-template endpoint 4 nodes.example.org:30443 resolvers node ');
  });

  it("connects to addresses of the cluster's IP family", () => {
    const services = { services: { cidrBlocks: ['fd00:10::/112'] } };
    expect(configOf(objects)).toContain('resolve-prefer ipv4');
    expect(configOf(render({ ...gateway, inClusterAccess: 'Proxy' }, behindGateway, services))).toContain(
      'resolve-prefer ipv6',
    );
  });
});

describe('two proxies behind the kubernetes Service', () => {
  const byName: Partial<Facts> = { endpoint: { host: 'lb.example.org', port: 443 }, advertiseAddress: undefined };
  const objects = render({}, byName);
  const pods = (facts: Partial<Facts> = {}, spec: object = {}, network: ClusterChanges['network'] = {}) =>
    renderWorkload(clusterOf({ spec, network }), { ...knownFacts, ...byName, ...facts }, 'service-access');
  const { pod, selector, containers, object } = workloadsOf(pods())[0]!;

  it('are selected by it, wherever the client runs', () => {
    expect(service(objects)?.['spec']).toEqual({ selector });
    expect(object.metadata.namespace).toBe('default');
    expect(selector).not.toEqual(proxyLabels);
  });

  it('pass connections on to the endpoint as they are, at the port of the API server', () => {
    const config = configOf(pods());
    expect(config).toContain('bind "${POD_IP}:6443"');
    expect(config).toContain('server-template endpoint 4 lb.example.org:443 resolvers node ');
    expect(config).not.toMatch(/ ssl | crt /);
    expect(configOf(pods({}, {}, { services: { cidrBlocks: ['fd00:10::/112'] } }))).toContain('resolve-prefer ipv6');
  });

  it('connect through the tunnel behind a name that clients must send, and trust only the CA of the cluster', () => {
    const tunnelled = pods(behindGateway, gateway);
    const config = configOf(tunnelled);
    expect(config).toContain('bind "${POD_IP}:6443"');
    expect(config).toContain('server-template endpoint 4 tunnel.c1.team.example.org:443 ');
    expect(config).toMatch(/ sni str\(tunnel\.c1\.team\.example\.org\) verify required verifyhost tunnel\./);
    expect(config).not.toMatch(/ crt /);
    expect(JSON.stringify(workloadsOf(tunnelled)[0]?.pod.volumes)).not.toMatch(/secret|serviceAccountToken/i);
    expect(service(render(gateway, behindGateway))?.['spec']).toEqual({ selector });
  });

  it('have no key, no token and no right, and need neither the network of a node nor cluster DNS', () => {
    expect(pod).toMatchObject({ automountServiceAccountToken: false, dnsPolicy: 'Default' });
    expect(pod).not.toHaveProperty('hostNetwork');
    expect(JSON.stringify(pod.volumes)).not.toMatch(/secret|serviceAccountToken/i);
    expect(containers[0]?.securityContext).toMatchObject({ capabilities: { drop: ['ALL'] } });
  });

  it.each([
    [5, 2],
    [1, 1],
    [0, 1],
  ])('are at most one for each node: of %d nodes on %d', (nodes, replicas) => {
    expect(workloadsOf(pods({ nodes }))[0]?.object['spec']).toMatchObject({ replicas });
  });

  it.each<[string, object, Partial<Facts>]>([
    ['an address', {}, { advertiseAddress: '192.0.2.10' }],
    ['a proxy on each node', { inClusterAccess: 'Proxy' }, {}],
    ['a name that clients must send, and no tunnel', ingress, behindGateway],
    ['no support for policies', { version: 'v1.33.1', inClusterAccess: 'Policy' }, {}],
  ])('do not exist with %s', (_, spec, facts) => {
    expect(pods(facts, spec)).toEqual([]);
  });
});

describe.each<[string, object, { ofProxies: boolean; ofAPIServers: boolean }]>([
  ['Proxy', { ...gateway, inClusterAccess: 'Proxy' }, { ofProxies: false, ofAPIServers: true }],
  ['Policy without proxies', { ...ingress, inClusterAccess: 'Policy' }, { ofProxies: true, ofAPIServers: true }],
  ['Policy with proxies', { inClusterAccess: 'Policy' }, { ofProxies: false, ofAPIServers: true }],
  ['LoadBalancer', { inClusterAccess: 'LoadBalancer' }, { ofProxies: true, ofAPIServers: false }],
])('with %s', (_, spec, { ofProxies, ofAPIServers }) => {
  const facts = { ...knownFacts, ...behindGateway, advertiseAddress: '192.0.2.10' };
  const objects = renderWorkload(clusterOf({ spec }), facts);

  it(`EndpointSlices of proxies are stale: ${ofProxies}`, () => {
    expect(isStaleSlice('kubernetes-x7k2p', objects)).toBe(ofProxies);
  });

  it(`the EndpointSlice of the API servers is stale: ${ofAPIServers}`, () => {
    expect(isStaleSlice('kubernetes', objects)).toBe(ofAPIServers);
  });
});
