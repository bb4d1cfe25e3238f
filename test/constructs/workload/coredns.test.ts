import { describe, expect, it } from 'vitest';
import { restartsWithAnnotation } from '../../../constructs/pod/component.ts';
import type { Facts } from '../../../constructs/cluster/facts.ts';
import type { Party } from '../../support/enforced-policy.ts';
import { Enforcement } from '../../support/network-policy-evaluator.ts';
import { type ClusterChanges, knownFacts } from '../../support/rendered-cluster.ts';
import { RenderedPart } from '../../support/rendered-hosted-cluster.ts';

const coredns = (settings: object = {}, changes: ClusterChanges = {}, facts: Partial<Facts> = {}) =>
  new RenderedPart('coredns', { ...changes, spec: { ...changes.spec, coredns: settings } }, facts);
const restartsWith = ({ workload }: RenderedPart) => workload.template.metadata?.annotations?.[restartsWithAnnotation];

describe('CoreDNS', () => {
  it("has kubeadm's Corefile with the domain of the cluster", () => {
    expect(coredns({}, { network: { serviceDomain: 'one.example' } }).file('Corefile')).toMatchInlineSnapshot(`
      ".:53 {
          errors
          health {
             lameduck 5s
          }
          ready
          kubernetes one.example in-addr.arpa ip6.arpa {
             pods insecure
             fallthrough in-addr.arpa ip6.arpa
             ttl 30
          }
          prometheus :9153
          forward . /etc/resolv.conf {
             max_concurrent 1000
          }
          cache 30 {
             disable success one.example
             disable denial one.example
          }
          loop
          reload
          loadbalance
      }
      "
    `);
  });

  it('starts with another Corefile if the user sets one, without stopping a working pod', () => {
    const own = coredns({ corefile: '.:53 { whoami }' });
    expect(own.file('Corefile')).toBe('.:53 { whoami }');
    expect(restartsWith(own)).toMatch(/(^|,)corefile=[0-9a-f]{12}$/);
    expect(restartsWith(own)).not.toBe(restartsWith(coredns()));
    expect(own.workload.object['spec']).toMatchObject({ strategy: { rollingUpdate: { maxUnavailable: 0 } } });
  });

  it.each([
    [0, 1],
    [1, 1],
    [2, 2],
    [50, 3],
    [undefined, 1],
  ])('of three replicas has with %s nodes %i', (nodes, replicas) => {
    expect(coredns({ replicas: 3 }, {}, { nodes }).replicas).toBe(replicas);
  });

  it('has the tenth address of the first service network', () => {
    const network = { services: { cidrBlocks: ['fd00:10:96::/112', '10.96.0.0/16'] } };
    const [single, dual] = [coredns(), coredns({}, { network })].map((part) => part.only('Service'));
    expect(single).toMatchObject({
      metadata: { name: 'kube-dns' },
      spec: { clusterIP: '10.96.0.10', ipFamilyPolicy: 'PreferDualStack', selector: { 'k8s-app': 'kube-dns' } },
    });
    expect(dual).toMatchObject({ spec: { clusterIP: 'fd00:10:96::a' } });
  });

  it('maps every port of its Service, of either protocol, to a port of its pods', () => {
    const part = coredns();
    const offered = part.workload.containers.flatMap(({ ports = [] }) => ports);
    const { ports } = part.only('Service')['spec'] as {
      ports: { name: string; port: number; protocol: string; targetPort: string }[];
    };
    expect(ports.map(({ name, port, protocol }) => `${name} ${port}/${protocol}`)).toEqual([
      'dns 53/UDP',
      'dns-tcp 53/TCP',
      'metrics 9153/TCP',
    ]);
    for (const { targetPort, port, protocol } of ports) {
      expect(offered).toContainEqual({ name: targetPort, containerPort: port, protocol });
    }
  });

  it('connects to the API server without cluster DNS and without the kubernetes Service', () => {
    const { workload, environment } = coredns({}, {}, { endpoint: { host: 'c1.example.org', port: 443 } });
    expect(environment).toMatchObject({ KUBERNETES_SERVICE_HOST: 'c1.example.org', KUBERNETES_SERVICE_PORT: '443' });
    expect(workload.pod.dnsPolicy).toBe('Default');
  });

  it('runs on nodes that are not initialized, because their initialization may need DNS', () => {
    const tolerated = coredns().workload.pod.tolerations?.map(({ key }) => key);
    expect(tolerated).toEqual([
      'CriticalAddonsOnly',
      'node.kubernetes.io/not-ready',
      'node.cluster.x-k8s.io/uninitialized',
      'node.cloudprovider.kubernetes.io/uninitialized',
    ]);
  });

  it.each([
    ['v1.32.13', 'v1.11.3'],
    ['v1.33.13', 'v1.12.0'],
    ['v1.34.4', 'v1.12.1'],
    ['v1.35.4', 'v1.13.1'],
    ['v1.36.3', 'v1.14.2'],
  ])('is for Kubernetes %s the version that kubeadm pins, %s', (version, tag) => {
    const { workload } = coredns({}, { spec: { version } });
    expect(workload.containers[0]?.image).toBe(`registry.k8s.io/coredns/coredns:${tag}`);
  });

  it('takes the settings any container has', () => {
    const { workload } = coredns({
      image: { tag: 'v9.9.9' },
      args: { 'dns.port': '53', conf: '/tmp/Corefile' },
      priorityClassName: 'dns',
      resources: { limits: { memory: '170Mi' } },
    });
    expect(workload.pod.priorityClassName).toBe('dns');
    expect(workload.containers[0]).toMatchObject({
      image: 'registry.k8s.io/coredns/coredns:v9.9.9',
      args: ['--conf=/etc/coredns/Corefile', '--dns.port=53'],
      resources: { limits: { memory: '170Mi' } },
    });
  });

  it('is not rendered if it is disabled', () => {
    expect(coredns({ disabled: true }).objects).toEqual([]);
  });
});

describe('the network policy of CoreDNS', () => {
  const addresses = { ipv4: '10.0.0.7', ipv6: 'fd00::7' };
  const dns: Party = { kind: 'pod', namespace: 'kube-system', labels: { 'k8s-app': 'kube-dns' }, addresses };
  const anyPod: Party = { kind: 'pod', namespace: 'shop', labels: { app: 'shop' }, addresses };
  const outside: Party = {
    kind: 'host outside',
    addresses: { ipv4: '203.0.113.9', ipv6: '2001:db8::9' },
  };
  const policy = () => new Enforcement([coredns().only('NetworkPolicy')]);
  const attempt = (port: number, protocol: 'TCP' | 'UDP') => ({ port, protocol, family: 'ipv4' }) as const;

  it.each<[number, 'TCP' | 'UDP', boolean]>([
    [53, 'UDP', true],
    [53, 'TCP', true],
    [9153, 'TCP', true],
    [9153, 'UDP', false],
    [22, 'TCP', false],
  ])('lets pods reach its port %i over %s: %s', (port, protocol, expected) => {
    expect(policy().allows('ingress', anyPod, dns, attempt(port, protocol))).toBe(expected);
  });

  it.each<[number, 'TCP' | 'UDP', boolean]>([
    [53, 'UDP', true],
    [53, 'TCP', true],
    [knownFacts.endpoint?.port ?? 0, 'TCP', true],
    [80, 'TCP', false],
    [knownFacts.endpoint?.port ?? 0, 'UDP', false],
  ])('lets it reach port %i over %s of others: %s', (port, protocol, expected) => {
    expect(policy().allows('egress', dns, outside, attempt(port, protocol))).toBe(expected);
  });

  it('restricts no other pod', () => {
    expect(policy().allows('both', anyPod, outside, attempt(80, 'TCP'))).toBe(true);
  });

  it.each([
    ['a Corefile', { corefile: '.:53 { forward . 192.0.2.1:5353 }' }],
    ['flags', { args: { 'dns.port': '5353' } }],
    ['variables', { env: [{ name: 'HTTPS_PROXY', value: 'http://192.0.2.1:3128' }] }],
  ])('does not exist with %s of the user, which decide where it connects', (_, settings) => {
    expect(coredns(settings).objects.map(({ kind }) => kind)).not.toContain('NetworkPolicy');
  });
});
