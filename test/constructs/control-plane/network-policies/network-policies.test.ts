import { expect, it } from 'vitest';
import { policyKind } from '../../../../constructs/control-plane/network-policies/network-policies.ts';
import { Rendered } from '../../../support/rendered-cluster.ts';

it.each([
  ['Auto', false, 'NetworkPolicy'],
  ['Auto', undefined, 'NetworkPolicy'],
  ['Auto', true, 'CiliumNetworkPolicy'],
  ['NetworkPolicy', true, 'NetworkPolicy'],
  ['CiliumNetworkPolicy', false, 'CiliumNetworkPolicy'],
  ['Disabled', true, undefined],
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
          "toEntities": [
            "all",
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
