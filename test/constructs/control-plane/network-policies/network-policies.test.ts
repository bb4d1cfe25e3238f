import { describe, expect, it } from 'vitest';
import { policyKind } from '../../../../constructs/control-plane/network-policies/network-policies.ts';
import { Rendered } from '../../../support/rendered-cluster.ts';

it.each([
  ['Auto', false, 'NetworkPolicy'],
  ['Auto', undefined, 'NetworkPolicy'],
  ['Auto', true, 'CiliumNetworkPolicy'],
  ['NetworkPolicy', true, 'NetworkPolicy'],
  ['CiliumNetworkPolicy', false, 'CiliumNetworkPolicy'],
  ['Disabled', true, 'NetworkPolicy'],
] as const)('networkPolicy %s, with Cilium served: %s, means %s', (networkPolicy, ciliumServed, kind) => {
  expect(policyKind({ spec: { networkPolicy } }, { ciliumServed })).toBe(kind);
});

it('the policy of the controller manager, in both kinds', () => {
  expect(new Rendered().object('NetworkPolicy', 'c1-controller-manager')['spec']).toMatchInlineSnapshot(`
    {
      "egress": [
        {
          "ports": [
            {
              "port": 6443,
              "protocol": "TCP",
            },
          ],
          "to": [
            {
              "podSelector": {
                "matchLabels": {
                  "app.kubernetes.io/component": "api-server",
                  "cluster.x-k8s.io/cluster-name": "c1",
                },
              },
            },
          ],
        },
        {
          "ports": [
            {
              "port": 53,
              "protocol": "TCP",
            },
            {
              "port": 53,
              "protocol": "UDP",
            },
          ],
          "to": [
            {
              "namespaceSelector": {
                "matchLabels": {
                  "kubernetes.io/metadata.name": "kube-system",
                },
              },
              "podSelector": {
                "matchLabels": {
                  "k8s-app": "kube-dns",
                },
              },
            },
          ],
        },
        {
          "ports": [
            {
              "port": 53,
              "protocol": "TCP",
            },
            {
              "port": 53,
              "protocol": "UDP",
            },
          ],
          "to": [
            {
              "namespaceSelector": {
                "matchLabels": {
                  "kubernetes.io/metadata.name": "kube-system",
                },
              },
              "podSelector": {
                "matchLabels": {
                  "k8s-app": "node-local-dns",
                },
              },
            },
          ],
        },
      ],
      "podSelector": {
        "matchLabels": {
          "app.kubernetes.io/component": "controller-manager",
          "cluster.x-k8s.io/cluster-name": "c1",
        },
      },
      "policyTypes": [
        "Ingress",
        "Egress",
      ],
    }
  `);
  expect(new Rendered({}, { ciliumServed: true }).object('CiliumNetworkPolicy', 'c1-controller-manager')['spec'])
    .toMatchInlineSnapshot(`
      {
        "egress": [
          {
            "toEndpoints": [
              {
                "matchLabels": {
                  "app.kubernetes.io/component": "api-server",
                  "cluster.x-k8s.io/cluster-name": "c1",
                },
              },
            ],
            "toPorts": [
              {
                "ports": [
                  {
                    "port": "6443",
                    "protocol": "TCP",
                  },
                ],
              },
            ],
          },
          {
            "toEndpoints": [
              {
                "matchLabels": {
                  "k8s-app": "kube-dns",
                  "k8s:io.kubernetes.pod.namespace": "kube-system",
                },
              },
            ],
            "toPorts": [
              {
                "ports": [
                  {
                    "port": "53",
                    "protocol": "TCP",
                  },
                  {
                    "port": "53",
                    "protocol": "UDP",
                  },
                ],
              },
            ],
          },
          {
            "toEndpoints": [
              {
                "matchLabels": {
                  "k8s-app": "node-local-dns",
                  "k8s:io.kubernetes.pod.namespace": "kube-system",
                },
              },
            ],
            "toPorts": [
              {
                "ports": [
                  {
                    "port": "53",
                    "protocol": "TCP",
                  },
                  {
                    "port": "53",
                    "protocol": "UDP",
                  },
                ],
              },
            ],
          },
        ],
        "endpointSelector": {
          "matchLabels": {
            "app.kubernetes.io/component": "controller-manager",
            "cluster.x-k8s.io/cluster-name": "c1",
          },
        },
        "ingress": [
          {},
        ],
      }
    `);
});

it('only the API server may connect to etcd if the operator runs outside of the cluster', () => {
  const { ingress } = new Rendered().object('NetworkPolicy', 'c1-etcd')['spec'] as { ingress: { from: unknown }[] };
  const component = (name: string) => ({
    podSelector: { matchLabels: { 'cluster.x-k8s.io/cluster-name': 'c1', 'app.kubernetes.io/component': name } },
  });
  expect(ingress.map(({ from }) => from)).toEqual([[component('api-server')], [component('etcd')]]);
});

it.each(['NetworkPolicy', 'CiliumNetworkPolicy'] as const)(
  'the API server may connect to the ports of token issuers, in a %s',
  (kind) => {
    const provider = { audiences: ['a'], claimMappings: { username: 'claims.sub' } };
    const urls = ['https://b.example.org:8443/realm', 'https://a.example.org', 'https://[2001:db8::1]:5556'];
    const portsTo = (issuers: readonly string[]) => {
      const oidcProviders = Object.fromEntries(issuers.map((url) => [url, provider]));
      const policy = new Rendered({ spec: { networkPolicy: kind, oidcProviders } }).object(kind, 'c1-api-server');
      const { egress } = policy['spec'] as { egress: unknown[] };
      const outside = egress.find((rule) => /ipBlock|toCIDRSet/.test(JSON.stringify(rule)));
      return portsIn(outside).map(({ port }) => Number(port));
    };
    expect(portsTo(urls)).toEqual([443, 5556, 8443]);
    expect(portsTo([])).toEqual([443]);
  },
);

it('every port of a policy has a protocol', () => {
  for (const ciliumServed of [false, true]) {
    const policies = new Rendered({}, { ciliumServed }).objects.filter(({ kind }) => kind.endsWith('NetworkPolicy'));
    const ports = policies.flatMap((policy) => portsIn(policy['spec']));
    expect(ports.length).toBeGreaterThan(10);
    expect(ports.filter(({ protocol }) => protocol !== 'TCP' && protocol !== 'UDP')).toEqual([]);
  }
});

interface Port {
  readonly port: unknown;
  readonly protocol?: unknown;
}

function portsIn(value: unknown): Port[] {
  if (typeof value !== 'object' || value === null) return [];
  return 'port' in value ? [value] : Object.values(value).flatMap(portsIn);
}

describe('name resolution', () => {
  const pods = [
    {
      namespace: 'openshift-dns',
      labels: { dns: 'default' },
      ports: [
        { number: 5353, protocol: 'UDP' },
        { number: 'dns-tcp', protocol: 'TCP' },
      ],
    },
  ] as const;
  const managementNetwork = { denied: [], dns: { pods, networks: ['169.254.20.10/32', 'fd00::10/128'] } };
  const egress = (kind: 'NetworkPolicy' | 'CiliumNetworkPolicy') => {
    const objects = new Rendered({ spec: { networkPolicy: kind } }, { managementNetwork });
    return (objects.object(kind, 'c1-scheduler')['spec'] as { egress: unknown[] }).egress;
  };

  it('reaches the pods of the DNS at their own ports, and resolvers without pods', () => {
    const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': 'openshift-dns' } };
    expect(egress('NetworkPolicy')).toEqual(
      expect.arrayContaining([
        {
          to: [{ namespaceSelector, podSelector: { matchLabels: { dns: 'default' } } }],
          ports: [
            { port: 5353, protocol: 'UDP' },
            { port: 'dns-tcp', protocol: 'TCP' },
          ],
        },
        {
          to: [{ ipBlock: { cidr: '169.254.20.10/32' } }, { ipBlock: { cidr: 'fd00::10/128' } }],
          ports: [
            { port: 53, protocol: 'TCP' },
            { port: 53, protocol: 'UDP' },
          ],
        },
      ]),
    );
  });

  it('reaches resolvers of the node with Cilium, which matches a node by no address', () => {
    const toPorts = [
      {
        ports: [
          { port: '53', protocol: 'TCP' },
          { port: '53', protocol: 'UDP' },
        ],
      },
    ];
    expect(egress('CiliumNetworkPolicy')).toEqual(
      expect.arrayContaining([
        { toCIDRSet: [{ cidr: '169.254.20.10/32' }, { cidr: 'fd00::10/128' }], toPorts },
        { toEntities: ['host'], toPorts },
      ]),
    );
  });
});

it.each(['NetworkPolicy', 'CiliumNetworkPolicy'] as const)(
  'a %s always denies link-local addresses, and what the platform denies',
  (kind) => {
    const denied = ['203.0.113.0/24', '10.96.0.1/32', 'fd00:10::/64', '203.0.113.0/24'];
    const facts = { managementNetwork: { denied } };
    const { egress } = new Rendered({ spec: { networkPolicy: kind } }, facts).object(kind, 'c1-api-server')['spec'] as {
      egress: object[];
    };
    const blocks = [
      { cidr: '0.0.0.0/0', except: ['10.96.0.1/32', '169.254.0.0/16', '203.0.113.0/24'] },
      { cidr: '::/0', except: ['fd00:10::/64', 'fe80::/10'] },
    ];
    const wanted = kind === 'NetworkPolicy' ? { to: blocks.map((ipBlock) => ({ ipBlock })) } : { toCIDRSet: blocks };
    expect(egress).toContainEqual(expect.objectContaining(wanted));
  },
);
