import { Yaml } from 'cdk8s';
import { parseAllDocuments } from 'yaml';
import { renderControlPlane } from '../../../../constructs/control-plane/chart.ts';
import type { Party } from '../../../support/enforced-policy.ts';
import type { Ends } from '../../../support/network-policy-evaluator.ts';
import { deniedNetworks, deniedParties, ownPod, otherParties, tried } from '../../../support/reachability.ts';
import { componentLabel } from '../../../../constructs/cluster/labels.ts';
import { anyRestore, clusterOf, knownFacts } from '../../../support/rendered-cluster.ts';
import { workloadsOf } from '../../../support/rendered-objects.ts';

/** An exposure strategy, and the ports of an API server's pod that must be reachable for it. */
export interface ExposureStrategy {
  readonly name: string;
  readonly spec: object;
  readonly securePort: number;
  readonly entrances: readonly number[];
  /** Who reads the metrics; by default no one. */
  readonly scraper?: string;
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

export const exposureStrategies: readonly ExposureStrategy[] = [
  {
    name: 'a gateway, and no tunnel',
    spec: { exposure: gateway, certificates: { issuerRef: { name: 'ours' } } },
    securePort: 6443,
    entrances: [6443, 8132],
  },
  {
    name: 'a gateway, and a tunnel for the Service kubernetes',
    spec: { exposure: gateway },
    securePort: 6443,
    entrances: [6443, 8132, 6444],
  },
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
  {
    name: 'a load balancer, with a pod that reads the metrics',
    spec: {
      exposure: { loadBalancer: {} },
      metricsScrapers: [{ namespace: 'elsewhere', podLabels: { app: 'web' } }],
    },
    securePort: 6443,
    entrances: [6443, 8132],
    scraper: 'pod elsewhere',
  },
  { name: 'node ports', spec: { exposure: nodePort }, securePort: 30443, entrances: [30443, 8132] },
];

export const policyKinds = ['NetworkPolicy', 'CiliumNetworkPolicy'] as const;
export type Kind = (typeof policyKinds)[number];

export const components = [
  'api-server',
  'controller-manager',
  'scheduler',
  'etcd',
  'etcd-restore',
  'etcd-verify',
  'api-server-check',
];

export interface Policy {
  readonly kind: string;
  readonly spec: object;
}

/** Policies as in a manifest, and the parties they apply to: pods as the same chart labels them, and others. */
export function rendered(
  kind: Kind | 'Disabled',
  { spec }: ExposureStrategy,
): { policies: Policy[]; parties: Record<string, Party> } {
  const managementNetwork = { denied: deniedNetworks };
  const cluster = clusterOf({ spec: { ...spec, networkPolicy: kind } });
  const facts = {
    ...knownFacts,
    managementNetwork,
    operatorNamespace: 'operator',
    etcdRestore: anyRestore,
    etcdVerify: anyRestore,
    apiServerCheck: cluster.spec,
  };
  const objects = renderControlPlane(cluster, facts);
  const manifest = Yaml.stringify(
    ...objects.filter((object) => object.kind === (kind === 'Disabled' ? 'NetworkPolicy' : kind)),
  );
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
      'api-server-check': ownPod(own.length + 3, pod('api-server-check')?.metadata.labels ?? {}),
      ...otherParties,
    },
  };
}

interface Expected {
  readonly from: readonly string[];
  readonly to: readonly string[];
  /** `TCP 6443`; everything when missing. */
  readonly at?: readonly string[];
}

/** The connections that each end allows, and those that both allow, written by hand. All others are denied. */
function tables(kind: Kind, { securePort, entrances, scraper }: ExposureStrategy): Record<Ends, Expected[]> {
  const others = Object.keys(otherParties);
  const all = [...components, ...others];
  const entering = entrances.map((port) => `TCP ${port}`);
  // the other pods do not use DNS
  const asking = components.filter((name) => !['etcd-restore', 'etcd-verify', 'api-server-check'].includes(name));
  const dns = ['TCP 53', 'UDP 53'];
  const resolvers = ['cluster DNS', 'DNS cache of a node'];
  const probes = { from: ['own node'], to: components };
  const ofOthers = { from: others, to: others };
  // NetworkPolicy selects hosts outside only by address, and the addresses of pods match too.
  const outside = (parties: readonly string[]) =>
    kind === 'NetworkPolicy' ? parties.filter((name) => !deniedParties.includes(name)) : ['host outside'];
  const withinControlPlane = [
    { from: ['controller-manager', 'scheduler'], to: ['api-server'], at: [`TCP ${securePort}`] },
    { from: ['api-server'], to: ['etcd'], at: ['TCP 2379'] },
    { from: ['etcd'], to: ['etcd'], at: ['TCP 2380'] },
  ];
  const scrapes =
    scraper === undefined
      ? []
      : [
          { from: [scraper], to: ['etcd'], at: ['TCP 2381'] },
          { from: [scraper], to: ['controller-manager'], at: ['TCP 10257'] },
          { from: [scraper], to: ['scheduler'], at: ['TCP 10259'] },
        ];
  return {
    egress: [
      ...withinControlPlane,
      { from: asking, to: resolvers, at: dns },
      { from: ['api-server'], to: outside(all), at: ['TCP 443'] },
      { from: others, to: all },
    ],
    ingress: [
      { from: all, to: ['api-server'], at: entering },
      { from: ['api-server'], to: ['etcd'], at: ['TCP 2379'] },
      { from: ['operator'], to: ['etcd'], at: ['TCP 2379', 'TCP 2382'] },
      { from: ['operator'], to: ['etcd-restore', 'etcd-verify'], at: ['TCP 2379'] },
      { from: ['operator'], to: ['api-server'], at: ['TCP 8134'] },
      { from: ['etcd'], to: ['etcd'], at: ['TCP 2380'] },
      ...scrapes,
      { from: all, to: others },
      probes,
    ],
    both: [
      ...withinControlPlane,
      ...scrapes,
      { from: others, to: ['api-server'], at: entering },
      { from: ['operator'], to: ['etcd'], at: ['TCP 2379', 'TCP 2382'] },
      { from: ['operator'], to: ['etcd-restore', 'etcd-verify'], at: ['TCP 2379'] },
      { from: ['operator'], to: ['api-server'], at: ['TCP 8134'] },
      { from: asking, to: resolvers, at: dns },
      { from: ['api-server'], to: outside(others), at: ['TCP 443'] },
      probes,
      ofOthers,
    ],
  };
}

/** The pairs of the matrix, and the connections that these ends allow between them. */
export function expected(kind: Kind, exposureStrategy: ExposureStrategy, ends: Ends): Map<string, string> {
  const byPair = new Map<string, Set<string>>();
  for (const { from, to, at: listed } of tables(kind, exposureStrategy)[ends]) {
    const allowed = listed?.flatMap((port) => [`${port} ipv4`, `${port} ipv6`]) ?? tried;
    for (const pair of from.flatMap((one) => to.map((other) => `${one} → ${other}`))) {
      byPair.set(pair, new Set([...(byPair.get(pair) ?? []), ...allowed]));
    }
  }
  const inOrder = (allowed: ReadonlySet<string>) => tried.filter((attempt) => allowed.has(attempt)).join(', ');
  return new Map([...byPair].map(([pair, allowed]) => [pair, inOrder(allowed)]));
}
