import { Yaml } from 'cdk8s';
import { parseAllDocuments } from 'yaml';
import { renderControlPlane } from '../../../../constructs/control-plane/chart.ts';
import type { Party } from '../../../support/enforced-policy.ts';
import type { Ends } from '../../../support/network-policy-evaluator.ts';
import { ownPod, unknownMembers, tried } from '../../../support/reachability.ts';
import { componentLabel } from '../../../../constructs/cluster/labels.ts';
import { anyRestore, clusterOf, knownFacts } from '../../../support/rendered-cluster.ts';
import { workloadsOf } from '../../../support/rendered-objects.ts';

/** A way in, and the ports of an API server's pod that must be reachable for it. */
export interface ExposureStrategy {
  readonly name: string;
  readonly spec: object;
  readonly securePort: number;
  readonly entrances: readonly number[];
}

const gateway = { gateway: { namespace: 'gateways', name: 'shared' } };
const ingress = { ingress: { apiHost: 'api.example.org', konnectivityHost: 'konnectivity.example.org' } };
const nodePort = { nodePort: { address: '192.0.2.20', port: 30443, konnectivityPort: 30132 } };

export const behindTunnel: ExposureStrategy = {
  name: 'a gateway and a tunnel for the proxies of workers',
  spec: { exposure: gateway, inClusterAccess: 'Proxy' },
  securePort: 6443,
  entrances: [6443, 8132, 6444],
};

export const waysIn: readonly ExposureStrategy[] = [
  { name: 'a gateway', spec: { exposure: gateway }, securePort: 6443, entrances: [6443, 8132] },
  behindTunnel,
  { name: 'an ingress controller', spec: { exposure: ingress }, securePort: 6443, entrances: [6443, 8132] },
  {
    name: 'a load balancer with another port',
    spec: { exposure: { loadBalancer: { port: 443 } } },
    securePort: 6443,
    entrances: [6443, 8132],
  },
  {
    name: 'a load balancer for some clients',
    spec: { exposure: { loadBalancer: { loadBalancerSourceRanges: ['192.0.2.0/24'] } } },
    securePort: 6443,
    entrances: [6443, 8132],
  },
  { name: 'node ports', spec: { exposure: nodePort }, securePort: 30443, entrances: [30443, 8132] },
];

export const policyKinds = ['NetworkPolicy', 'CiliumNetworkPolicy'] as const;
export type Kind = (typeof policyKinds)[number];

export const components = ['api-server', 'controller-manager', 'scheduler', 'etcd', 'etcd-restore', 'etcd-verify'];

export interface Policy {
  readonly kind: string;
  readonly spec: object;
}

/** Policies as they stand in a manifest, and whom they meet: pods as the same chart labels them, and strangers. */
export function rendered(
  kind: Kind,
  { spec }: ExposureStrategy,
): { policies: Policy[]; parties: Record<string, Party> } {
  const facts = { ...knownFacts, operatorNamespace: 'operator', etcdRestore: anyRestore, etcdVerify: anyRestore };
  const objects = renderControlPlane(clusterOf({ spec: { ...spec, networkPolicy: kind } }), facts);
  const manifest = Yaml.stringify(...objects.filter((object) => object.kind === kind));
  const own = workloadsOf(objects).map(({ object, template }, index): [string, Party] => [
    object.metadata.name.replace('c1-', ''),
    ownPod(index + 1, template.metadata?.labels ?? {}),
  ]);
  const pod = (component: string) =>
    objects.find(({ kind: found, metadata }) => found === 'Pod' && metadata.labels?.[componentLabel] === component);
  return {
    policies: parseAllDocuments(manifest).map((document) => document.toJS() as Policy),
    parties: {
      ...Object.fromEntries(own),
      'etcd-restore': ownPod(own.length + 1, pod('etcd-restore')?.metadata.labels ?? {}),
      'etcd-verify': ownPod(own.length + 2, pod('etcd-verify')?.metadata.labels ?? {}),
      ...unknownMembers,
    },
  };
}

interface Expected {
  readonly from: readonly string[];
  readonly to: readonly string[];
  /** `TCP 6443`; everything when missing. */
  readonly at?: readonly string[];
}

/** What each end lets pass, and what comes about, written by hand. What is not here is denied. */
function tables(kind: Kind, { securePort, entrances }: ExposureStrategy): Record<Ends, Expected[]> {
  const everybodyElse = Object.keys(unknownMembers);
  const everybody = [...components, ...everybodyElse];
  const entering = entrances.map((port) => `TCP ${port}`);
  // the others know nobody by name
  const asking = components.filter((name) => !['etcd-restore', 'etcd-verify'].includes(name));
  const dns = ['TCP 53', 'UDP 53'];
  const probes = { from: ['own node'], to: components };
  const ofOthers = { from: everybodyElse, to: everybodyElse };
  // Kubernetes' own kind knows hosts outside only as addresses, and pods have those too.
  const outside = (pods: readonly string[]) => (kind === 'NetworkPolicy' ? pods : ['host outside']);
  const withinControlPlane = [
    { from: ['controller-manager', 'scheduler'], to: ['api-server'], at: [`TCP ${securePort}`] },
    { from: ['api-server'], to: ['etcd'], at: ['TCP 2379'] },
    { from: ['etcd'], to: ['etcd'], at: ['TCP 2380'] },
  ];
  return {
    egress: [
      ...withinControlPlane,
      { from: asking, to: everybody, at: dns },
      { from: ['api-server'], to: outside(everybody), at: ['TCP 443'] },
      { from: everybodyElse, to: everybody },
    ],
    ingress: [
      { from: everybody, to: ['api-server'], at: entering },
      { from: ['api-server', 'operator'], to: ['etcd'], at: ['TCP 2379'] },
      { from: ['operator'], to: ['etcd-restore', 'etcd-verify'], at: ['TCP 2379'] },
      { from: ['etcd'], to: ['etcd'], at: ['TCP 2380'] },
      { from: everybody, to: everybodyElse },
      probes,
    ],
    both: [
      ...withinControlPlane,
      { from: everybodyElse, to: ['api-server'], at: entering },
      { from: ['operator'], to: ['etcd', 'etcd-restore', 'etcd-verify'], at: ['TCP 2379'] },
      { from: asking, to: everybodyElse, at: dns },
      { from: ['api-server'], to: outside(everybodyElse), at: ['TCP 443'] },
      probes,
      ofOthers,
    ],
  };
}

/** The pairs of the matrix, and what these ends let pass between them. */
export function expected(kind: Kind, exposureStrategy: ExposureStrategy, ends: Ends): Map<string, string> {
  const byPair = new Map<string, Set<string>>();
  for (const { from, to, at: listed } of tables(kind, exposureStrategy)[ends]) {
    const passing = listed?.flatMap((port) => [`${port} ipv4`, `${port} ipv6`]) ?? tried;
    for (const pair of from.flatMap((one) => to.map((other) => `${one} → ${other}`))) {
      byPair.set(pair, new Set([...(byPair.get(pair) ?? []), ...passing]));
    }
  }
  const inOrder = (passing: ReadonlySet<string>) => tried.filter((attempt) => passing.has(attempt)).join(', ');
  return new Map([...byPair].map(([pair, passing]) => [pair, inOrder(passing)]));
}
