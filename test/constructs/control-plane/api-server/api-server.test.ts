import type { V1PodSpec } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { namesOf } from '../../../../constructs/cluster/names.ts';
import { releaseOf } from '../../../../constructs/cluster/release-revisions.ts';
import { minorOf } from '../../../../constructs/cluster/versions.ts';
import { renderControlPlane } from '../../../../constructs/control-plane/chart.ts';
import { clusterOf, knownFacts, Rendered } from '../../../support/rendered-cluster.ts';
import { workloadsOf } from '../../../support/rendered-objects.ts';

const flags = (...args: ConstructorParameters<typeof Rendered>) =>
  new Rendered(...args).flags('c1-api-server', 'kube-apiserver');

describe('the API server', () => {
  it('names the address at which workers reach it', () => {
    expect(flags()).toMatchObject({ 'external-hostname': '192.0.2.10' });
  });

  it('is not restarted while etcd has no quorum, and gets no requests then', () => {
    const [container] = new Rendered().workload('c1-api-server').containers;
    for (const probe of [container?.startupProbe, container?.livenessProbe])
      expect(probe?.httpGet?.path).toBe('/livez?exclude=etcd');
    expect(container?.readinessProbe?.httpGet?.path).toBe('/readyz');
  });

  it('is ready while etcd takes seconds to answer its two checks, which end before the timeout of the probe', () => {
    const [container] = new Rendered().workload('c1-api-server').containers;
    const seconds = ['etcd-healthcheck-timeout', 'etcd-readycheck-timeout'].map((flag) =>
      parseInt(flags()[flag] ?? ''),
    );
    expect(Math.min(...seconds)).toBeGreaterThan(2);
    expect(seconds.reduce((sum, timeout) => sum + timeout, 0)).toBeLessThan(
      container?.readinessProbe?.timeoutSeconds ?? 0,
    );
  });

  it('checks etcd as the release revisions before did in control planes that have them', () => {
    const cluster = clusterOf();
    const before = { ...cluster, release: releaseOf(minorOf(cluster.spec.version), 2) };
    expect(JSON.stringify(renderControlPlane(before, knownFacts))).not.toMatch(/etcd-(healthcheck|readycheck)-timeout/);
  });

  it('reaches nodes by the addresses and in the order of kubeadm, from release revision 4 on', () => {
    const flag = 'kubelet-preferred-address-types';
    expect(flags()).toMatchObject({ [flag]: 'InternalIP,ExternalIP,Hostname' });
    const cluster = clusterOf();
    const before = { ...cluster, release: releaseOf(minorOf(cluster.spec.version), 3) };
    expect(JSON.stringify(renderControlPlane(before, knownFacts))).toContain(`${flag}=InternalIP,InternalDNS,Hostname`);
  });

  it('advertises no address instead of that of its pod', () => {
    const known = flags({}, { advertiseAddress: undefined, endpoint: { host: 'lb.example.org', port: 443 } });
    expect(known).not.toHaveProperty('advertise-address');
    expect(known).toMatchObject({
      'endpoint-reconciler-type': 'none',
      'service-account-jwks-uri': 'https://lb.example.org:443/openid/v1/jwks',
    });
  });

  it('writes an IPv6 endpoint as URLs do', () => {
    const known = flags({}, { endpoint: { host: '2001:db8::10', port: 6443 } });
    expect(known['service-account-jwks-uri']).toBe('https://[2001:db8::10]:6443/openid/v1/jwks');
  });

  it('serves the network and domain of its Cluster', () => {
    const network = { serviceDomain: 'cluster.example', services: { cidrBlocks: ['10.1.0.0/16', 'fd00::/112'] } };
    expect(flags({ network })).toMatchObject({
      'service-cluster-ip-range': '10.1.0.0/16,fd00::/112',
    });
  });

  it('issues tokens as its endpoint, or as recorded, and has the keys at its endpoint', () => {
    const keys = { 'service-account-jwks-uri': 'https://192.0.2.10:6443/openid/v1/jwks' };
    expect(flags()).toMatchObject({ ...keys, 'service-account-issuer': 'https://192.0.2.10:6443' });
    const recorded = 'https://kubernetes.default.svc.cluster.local';
    expect(flags({}, { serviceAccountIssuers: [recorded] })).toMatchObject({
      ...keys,
      'service-account-issuer': recorded,
    });
  });

  it('and its check have issuers that are only accepted after the one that signs', () => {
    const acceptedIssuers = ['https://b.example.org', 'a'];
    const given = { spec: { serviceAccountIssuer: { issuer: 'https://c.example.org', acceptedIssuers } } };
    const rendered = new Rendered(given, { apiServerCheck: clusterOf(given).spec });
    const { containers: checking } = rendered.object('Pod', 'c1-api-server-check')['spec'] as V1PodSpec;
    for (const [container] of [rendered.workload('c1-api-server').containers, checking]) {
      expect(container?.args?.filter((arg) => arg.startsWith('--service-account-issuer='))).toEqual(
        ['https://c.example.org', ...acceptedIssuers].map((issuer) => `--service-account-issuer=${issuer}`),
      );
    }
  });

  it("takes the user's arguments, except those that would break it", () => {
    const args = { 'event-ttl': '24h', 'authorization-mode': 'AlwaysAllow' };
    expect(flags({ spec: { deployment: { apiServer: { args } } } })).toMatchObject({
      'event-ttl': '24h',
      'authorization-mode': 'Node,RBAC',
    });
  });

  it('accepts only kubelets of the cluster CA, unless the user sets another one', () => {
    const flag = 'kubelet-certificate-authority';
    const given = (value: string) => flags({ spec: { deployment: { apiServer: { args: { [flag]: value } } } } });
    expect(flags()).toMatchObject({ [flag]: '/etc/kubernetes/pki/ca.crt' });
    expect(given('/etc/ours/kubelets.crt')).toMatchObject({ [flag]: '/etc/ours/kubelets.crt' });
    expect(given('')).toMatchObject({ [flag]: '' });
  });

  it('restarts for keys that it reads only at its start, and not for those it reloads', () => {
    const { secrets } = namesOf('c1');
    const template = (...changed: string[]) => {
      const certificates = Object.fromEntries(changed.map((secret) => [secret, 'new']));
      return new Rendered({}, { certificates }).workload('c1-api-server').template;
    };
    expect(template(secrets.serviceAccount)).not.toEqual(template());
    expect(template(secrets.etcdCA)).not.toEqual(template());
    expect(template(secrets.clusterCA)).not.toEqual(template());
    const reloaded = [secrets.apiServer, secrets.frontProxyCA, secrets.frontProxyClient];
    expect(template(...reloaded)).toEqual(template());
  });

  it('reads encryption keys from a directory of their own, and only the configuration in their Secret', () => {
    const { template } = new Rendered().workload('c1-api-server');
    expect(JSON.stringify(template)).toContain(
      '"secret":{"items":[{"key":"config.yaml","path":"config.yaml"}],"name":"c1-encryption"}',
    );
    expect(flags()).toMatchObject({
      'encryption-provider-config': '/etc/kubernetes/encryption/config.yaml',
      'encryption-provider-config-automatic-reload': 'true',
    });
    const inClear = new Rendered({}, { encryptionAtRest: undefined }).workload('c1-api-server').template;
    expect(JSON.stringify(inClear)).not.toContain('encryption');
  });

  it.each([
    ['v1.33.1', true],
    ['v1.34.0', false],
  ])('of %s is replaced when encryption keys change: %s', (version, isReplaced) => {
    const template = (hash: string) =>
      new Rendered({ spec: { version } }, { certificates: { 'c1-encryption': hash } }).workload('c1-api-server')
        .template;
    expect(JSON.stringify(template('one')) !== JSON.stringify(template('another'))).toBe(isReplaced);
  });

  it('never has fewer pods than specified, and starts one at a time', () => {
    const spec = new Rendered({ spec: { replicas: 3 } }).object('Deployment', 'c1-api-server')['spec'];
    expect(spec).toMatchObject({
      replicas: 3,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    });
  });

  it('annotates its pods with their version, as the user writes it', () => {
    const spec = { version: '1.36', deployment: { apiServer: { image: { tag: 'hardened' } } } };
    const { template, containers } = new Rendered({ spec }).workload('c1-api-server');
    expect(template.metadata?.annotations?.['controlplane.cluster.x-k8s.io/version']).toBe('1.36');
    expect(containers[0]?.image).toBe('registry.k8s.io/kube-apiserver:hardened');
  });
});

describe('the konnectivity server', () => {
  it('shares the socket in the egress selector with its API server', () => {
    const rendered = new Rendered();
    const socket = rendered.flags('c1-api-server', 'konnectivity-server')['uds-name'];
    const { 'egress-selector-configuration.yaml': egress } = rendered.object('ConfigMap', 'c1-konnectivity')[
      'data'
    ] as Record<string, string>;
    expect(egress).toContain(`udsName: ${socket}`);
    const { containers } = rendered.workload('c1-api-server');
    const mountedAt = containers.map(({ volumeMounts = [] }) =>
      volumeMounts.filter(({ name }) => name === 'konnectivity-sockets').map(({ mountPath }) => mountPath),
    );
    expect(mountedAt).toEqual([['/run/konnectivity'], ['/run/konnectivity']]);
  });

  it('connects to its API server at the port that this listens on', () => {
    const nodePort = { address: '192.0.2.20', port: 30443, konnectivityPort: 30132 };
    const data = new Rendered({ spec: { exposure: { nodePort } } }).object('ConfigMap', 'c1-konnectivity')['data'];
    expect((data as Record<string, string>)['kubeconfig']).toContain('server: https://localhost:30443');
  });

  it('has image, arguments and resources of its own', () => {
    const konnectivity = {
      image: { tag: 'v9' },
      args: { v: '4' },
      resources: { requests: { cpu: '1', memory: '1Gi' } },
    };
    const rendered = new Rendered({ spec: { deployment: { apiServer: { konnectivity } } } });
    const [apiServer, server] = rendered.workload('c1-api-server').containers;
    expect(server).toMatchObject({
      image: 'registry.k8s.io/kas-network-proxy/proxy-server:v9',
      args: expect.arrayContaining(['--v=4']),
      resources: { requests: { cpu: '1', memory: '1Gi' } },
    });
    expect(apiServer?.args).not.toContain('--v=4');
  });

  it('ends after the API server, whose calls to nodes it carries, and does not delay its start', () => {
    const { pod } = new Rendered().workload('c1-api-server');
    expect(pod.initContainers).toMatchObject([{ name: 'konnectivity-server', restartPolicy: 'Always' }]);
    expect(pod.initContainers?.[0]?.startupProbe).toBeUndefined();
    expect(pod.initContainers?.[0]?.readinessProbe).toBeDefined();
  });

  it('stays where it was in control planes of the release revisions before', () => {
    const cluster = clusterOf();
    const before = { ...cluster, release: releaseOf(minorOf(cluster.spec.version), 2) };
    const pods = workloadsOf(renderControlPlane(before, knownFacts)).map(({ pod }) => pod);
    const [pod] = pods.filter(({ containers }) => containers.some(({ name }) => name === 'kube-apiserver'));
    expect(pod?.initContainers).toBeUndefined();
    expect(pod?.containers.map(({ name }) => name)).toEqual(['kube-apiserver', 'konnectivity-server']);
  });
});
