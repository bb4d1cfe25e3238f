import { ports } from '../../constructs/cluster/ports.ts';
import type { Attempt, Party } from './enforced-policy.ts';
import type { Ends, Enforcement } from './network-policy-evaluator.ts';

type Labels = Readonly<Record<string, string>>;

/** The parties that may connect to the control plane of cluster `c1` in namespace `team`, by a name for the matrix. */
export const otherParties: Readonly<Record<string, Party>> = Object.fromEntries(
  Object.entries({
    'api-server of c2': pod('team', componentOf('c2', 'api-server')),
    'controller-manager of c2': pod('team', componentOf('c2', 'controller-manager')),
    'scheduler of c2': pod('team', componentOf('c2', 'scheduler')),
    'etcd of c2': pod('team', componentOf('c2', 'etcd')),
    'etcd-restore of c2': pod('team', componentOf('c2', 'etcd-restore')),
    'etcd-verify of c2': pod('team', componentOf('c2', 'etcd-verify')),
    'api-server-check of c2': pod('team', componentOf('c2', 'api-server-check')),
    'api-server of c1 elsewhere': pod('elsewhere', componentOf('c1', 'api-server')),
    'etcd of c1 elsewhere': pod('elsewhere', componentOf('c1', 'etcd')),
    'unknown component of c1': pod('team', componentOf('c1', 'certificates')),
    'pod of the namespace': pod('team', { app: 'web' }),
    'pod without labels': pod('team', {}),
    'pod elsewhere': pod('elsewhere', { app: 'web' }),
    'cluster DNS': pod('kube-system', { 'k8s-app': 'kube-dns' }),
    'DNS cache of a node': pod('kube-system', { 'k8s-app': 'node-local-dns' }),
    'pod elsewhere with the labels of the DNS': pod('elsewhere', { 'k8s-app': 'kube-dns' }),
    'pod elsewhere with the labels of the cache': pod('elsewhere', { 'k8s-app': 'node-local-dns' }),
    'pod beside the DNS': pod('kube-system', { 'k8s-app': 'metrics-server' }),
    operator: pod('operator', operatorLabels()),
    'operator of the namespace': pod('team', operatorLabels()),
    'another operator': pod('operator', { 'control-plane': 'controller-manager' }),
    'other pod of this provider': pod('operator', {
      'cluster.x-k8s.io/provider': 'control-plane-hosted-control-plane',
    }),
    'own node': { kind: 'own node' },
    'other node': { kind: 'other node' },
    'host outside': { kind: 'host outside' },
    'metadata service': { kind: 'host outside' },
    'denied host': { kind: 'host outside' },
  } satisfies Record<string, PartyKind>).map(([name, party], index) => [
    name,
    { ...addressed(party, index + 10), ...ownAddresses(name) },
  ]),
);

/** Networks that the platform denies to all control planes, beside those of {@link deniedParties}. */
export const deniedNetworks = ['198.51.100.0/24', '2001:db8:99::/64'];

/** Hosts outside to which no control plane may connect. */
export const deniedParties = ['metadata service', 'denied host'];

function ownAddresses(name: string): Partial<Pick<Party, 'addresses'>> {
  if (name === 'metadata service') return { addresses: { ipv4: '169.254.169.254', ipv6: 'fe80::a9fe:a9fe' } };
  return name === 'denied host' ? { addresses: { ipv4: '198.51.100.7', ipv6: '2001:db8:99::7' } } : {};
}

type PartyKind = Omit<Extract<Party, { kind: 'pod' }>, 'addresses'> | { readonly kind: Exclude<Party['kind'], 'pod'> };

/** A pod of the control plane itself. */
export function ownPod(index: number, labels: Labels): Party {
  return addressed(pod('team', labels), index);
}

function addressed(party: PartyKind, index: number): Party {
  const outside = party.kind === 'host outside';
  const addresses = outside
    ? { ipv4: '203.0.113.9', ipv6: '2001:db8::9' }
    : { ipv4: `10.244.0.${index}`, ipv6: `fd00:10:244::${index}` };
  return { ...party, addresses };
}

function pod(namespace: string, labels: Labels): PartyKind {
  return { kind: 'pod', namespace, labels };
}

function componentOf(cluster: string, component: string): Labels {
  return {
    'cluster.x-k8s.io/cluster-name': cluster,
    'app.kubernetes.io/component': component,
    'app.kubernetes.io/managed-by': 'hosted-control-plane-controller',
  };
}

function operatorLabels(): Labels {
  return {
    'cluster.x-k8s.io/provider': 'control-plane-hosted-control-plane',
    'control-plane': 'controller-manager',
    'pod-template-hash': '5d8f7c9b6',
  };
}

/** Connections to every port of a control plane, to those of the shared services, and to some ports that nothing listens on. */
const attempts: readonly Attempt[] = [...new Set([...Object.values(ports), 30443, 30132, 53, 443, 80])].flatMap(
  (port) =>
    (['TCP', 'UDP', 'SCTP'] as const).flatMap((protocol) =>
      (['ipv4', 'ipv6'] as const).map((family) => ({ port, protocol, family })),
    ),
);

/** The attempted connection, as `TCP 6443 ipv4`. */
export const tried: readonly string[] = attempts.map(({ port, protocol, family }) => `${protocol} ${port} ${family}`);

/** For each pair, as `from → to`, the attempts that the given ends allow. Pairs without any are left out. */
export function* reachability(
  policies: Enforcement,
  ends: Ends,
  parties: Readonly<Record<string, Party>>,
): Generator<[pair: string, allowed: string]> {
  for (const [fromName, from] of Object.entries(parties)) {
    for (const [toName, to] of Object.entries(parties)) {
      const allowed = tried.filter((_, index) => policies.allows(ends, from, to, attempts[index]!));
      if (allowed.length > 0) yield [`${fromName} → ${toName}`, allowed.join(', ')];
    }
  }
}
