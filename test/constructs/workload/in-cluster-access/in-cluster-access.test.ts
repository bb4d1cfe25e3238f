import { describe, expect, it } from 'vitest';
import { haproxyFiles } from '../../../../constructs/pod/haproxy.ts';
import type { RenderedObject } from '../../../../constructs/control-plane/chart.ts';
import type { Facts } from '../../../../constructs/cluster/facts.ts';
import { renderWorkload } from '../../../../constructs/workload/chart.ts';
import { reachesProxies } from '../../../../constructs/workload/in-cluster-access/kubernetes-service.ts';
import { type ClusterChanges, clusterOf, knownFacts } from '../../../support/rendered-cluster.ts';
import { identityOf, workloadsOf } from '../../../support/rendered-objects.ts';

const gateway = { exposure: { gateway: { namespace: 'ingress', name: 'shared' } } };
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
  it('needs nothing but the fields of Service kubernetes to be its own', () => {
    const objects = render({});
    expect(objects.map(identityOf)).toEqual(['Service default/kubernetes']);
    expect(service(objects)).not.toHaveProperty('spec');
  });
});

describe('policies', () => {
  const policies = (version: string) => render({ ...gateway, version }, behindGateway).slice(0, -1);

  it.each([
    { version: 'v1.36.3', apiVersion: 'admissionregistration.k8s.io/v1' },
    { version: 'v1.34.4', apiVersion: 'admissionregistration.k8s.io/v1beta1' },
  ])('are $apiVersion in $version, each with a binding of its name', ({ version, apiVersion }) => {
    expect(policies(version).map((object) => [object.apiVersion, identityOf(object)])).toEqual(
      ['hosted-control-plane-api-server', 'hosted-control-plane-api-server-ephemeral'].flatMap((name) => [
        [apiVersion, `MutatingAdmissionPolicy /${name}`],
        [apiVersion, `MutatingAdmissionPolicyBinding /${name}`],
      ]),
    );
  });

  it('stop no pod from being made', () => {
    const specs = policies('v1.36.3').map(({ spec }) => spec as { failurePolicy?: string; policyName?: string });
    expect(specs.map(({ failurePolicy, policyName }) => failurePolicy ?? policyName)).toEqual([
      'Ignore',
      'hosted-control-plane-api-server',
      'Ignore',
      'hosted-control-plane-api-server-ephemeral',
    ]);
  });

  it('leave Service kubernetes alone', () => {
    expect(service(render(gateway, behindGateway))).not.toHaveProperty('spec');
  });

  it('are not made where Kubernetes does not know them', () => {
    const objects = render({ ...gateway, version: 'v1.33.1', inClusterAccess: 'Policy' }, behindGateway);
    expect(objects.map(identityOf)).toEqual(['Service default/kubernetes']);
  });
});

describe('the proxy of a node', () => {
  const objects = render({ ...gateway, inClusterAccess: 'Proxy' }, behindGateway);
  const daemonSet = objects.find(({ kind }) => kind === 'DaemonSet')!;
  const { pod, selector, containers } = workloadsOf([{ ...daemonSet, kind: 'Deployment' }])[0]!;

  it('is what Service kubernetes leads to, on the same node only', () => {
    expect(service(objects)).toMatchObject({
      metadata: { namespace: daemonSet.metadata.namespace },
      spec: { selector, internalTrafficPolicy: 'Local' },
    });
  });

  it('runs before there is a pod network or cluster DNS, on whatever node', () => {
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

  it('may do no more than any other pod', () => {
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(containers[0]?.securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  it('makes way for a newer one only when that one listens', () => {
    expect(daemonSet['spec']).toMatchObject({ updateStrategy: { rollingUpdate: { maxUnavailable: 0 } } });
    // A port that is declared on the host's network is one pod's: the two could not be there together.
    expect(containers[0]?.ports).toEqual([]);
  });

  it('dials the tunnel by its name, and believes only a certificate of the cluster for that name', () => {
    const config = configOf(objects);
    expect(config).toContain('server-template endpoint 4 tunnel.c1.team.example.org:443 ');
    expect(config).toContain(' ssl sni str(tunnel.c1.team.example.org) verify required ');
    expect(config).toContain(' verifyhost tunnel.c1.team.example.org ca-file /etc/proxy/authority/ca.crt ');
    expect(config).toContain('bind "${HOST_IP}:6443"');
  });

  it('dials an endpoint that is an address as it is', () => {
    const plain = render({ inClusterAccess: 'Proxy' });
    expect(configOf(plain)).toContain('server endpoint 192.0.2.10:6443\n');
    expect(configOf(plain)).not.toContain(' ssl ');
    expect(JSON.stringify(plain)).not.toContain('kube-root-ca.crt');
  });

  it('listens where Service kubernetes sends connections, whatever port that is', () => {
    const nodePort = { address: 'nodes.example.org', port: 30443, konnectivityPort: 30132 };
    const spec = { exposure: { nodePort }, inClusterAccess: 'Proxy' };
    const config = configOf(render(spec, { endpoint: { host: 'nodes.example.org', port: 30443 } }));
    expect(config).toContain('bind "${HOST_IP}:30443"');
    expect(config).toContain('server-template endpoint 4 nodes.example.org:30443 resolvers node ');
  });

  it('dials addresses of the family that the cluster has', () => {
    const services = { services: { cidrBlocks: ['fd00:10::/112'] } };
    expect(configOf(objects)).toContain('resolve-prefer ipv4');
    expect(configOf(render({ ...gateway, inClusterAccess: 'Proxy' }, behindGateway, services))).toContain(
      'resolve-prefer ipv6',
    );
  });
});

it.each([
  { inClusterAccess: 'Proxy', hostRoutes: true },
  { inClusterAccess: 'Policy', hostRoutes: false },
  { inClusterAccess: 'LoadBalancer', hostRoutes: false },
])('Service kubernetes leads to proxies with $inClusterAccess: $leads', ({ inClusterAccess, hostRoutes }) => {
  const objects = renderWorkload(clusterOf({ spec: { ...gateway, inClusterAccess } }), {
    ...knownFacts,
    ...behindGateway,
    advertiseAddress: '192.0.2.10',
  });
  expect(reachesProxies(objects)).toBe(hostRoutes);
});
