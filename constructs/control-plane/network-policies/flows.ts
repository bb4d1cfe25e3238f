import { isIP } from 'node:net';
import { isWithin } from '../../cluster/cidr.ts';
import { managerSelector } from '../../cluster/provider-names.ts';
import type { HostedCluster } from '../../cluster/cluster.ts';
import { auditTargets, usesFanOut } from '../api-server/audit/targets.ts';
import { exposureStrategy } from '../exposure/exposure.ts';
import type { ClusterDns, Facts, ManagementNetwork } from '../../cluster/facts.ts';
import { usesTunnel } from '../../cluster/in-cluster-access.ts';
import { ports } from '../../cluster/ports.ts';
import { rendersWith } from '../../cluster/release-revisions.ts';
import { type Flow, type FlowPort, type Peer, type PodComponent, podComponents } from './flow.ts';

/** Components that connect to no host by name, and therefore need no DNS. */
const nameless: readonly PodComponent[] = ['etcd-restore', 'etcd-verify', 'api-server-check'];

/**
 * The allowed connections in the management cluster; all others are denied. Kubelets need no entry, because Kubernetes
 * always allows traffic from the node of a pod.
 */
export function flowsOf(
  cluster: HostedCluster,
  { operatorNamespace, managementNetwork }: Pick<Facts, 'operatorNamespace' | 'managementNetwork'>,
): Flow[] {
  const { securePort } = exposureStrategy(cluster.spec);
  const entrances = [securePort, ports.konnectivityAgent, ...(usesTunnel(cluster.spec) ? [ports.tunnel] : [])];
  return [
    {
      // loadBalancerSourceRanges do not restrict it: where client addresses are translated, which is the default, pods
      // see the address of a node or load balancer. The ranges apply in front of the Service.
      from: anyone,
      to: component('api-server'),
      ports: entrances.map(tcp),
      why: 'workers and users connect through load balancers, gateways, node ports and Services, from any address',
    },
    between('controller-manager', 'api-server', securePort, 'it works through the API only'),
    between('scheduler', 'api-server', securePort, 'it works through the API only'),
    between('api-server', 'etcd', ports.etcdClient, 'storage of all API objects'),
    {
      from: component('api-server'),
      to: outside(managementNetwork),
      ports: [httpsPort, ...issuerPorts(cluster)].map(tcp),
      why: 'token issuers, and webhooks with a URL; nodes and pods are reached through konnectivity',
    },
    ...auditFlows(cluster, deniedNetworks(managementNetwork)),
    ...scraperFlows(cluster),
    between('etcd', 'etcd', ports.etcdPeer, 'replication between members'),
    ...(operatorNamespace === undefined ? [] : operatorFlows(cluster, operatorNamespace)),
    ...podComponents
      .filter((name) => !nameless.includes(name))
      .flatMap((name) =>
        dnsServers(managementNetwork?.dns).map(([to, at]) => ({
          from: component(name),
          to,
          // Clients repeat a query over TCP when the answer does not fit into a datagram.
          ports: at,
          why: 'name resolution of Services and etcd members',
        })),
      ),
  ];
}

/**
 * The flows of a control plane whose owner has disabled policies: it may connect to every address but those that the
 * platform denies to all, and nothing restricts who connects to it.
 */
export function unrestrictedFlowsOf(
  cluster: HostedCluster,
  facts: Pick<Facts, 'operatorNamespace' | 'managementNetwork'>,
): Flow[] {
  const within = flowsOf(cluster, facts).filter(({ to }) => to.kind !== 'outside');
  const free = podComponents.map((name) => ({
    from: component(name),
    to: outside(facts.managementNetwork),
    ports: [],
    why: 'the owner of the control plane has disabled its policies',
  }));
  return [...within, ...free];
}

/** The connections of the operator to pods of a control plane. */
function operatorFlows(cluster: HostedCluster, namespace: string): Flow[] {
  const from: Peer = { kind: 'pods', namespace, labels: managerSelector };
  const { etcdClient, etcdHTTP, konnectivityHealth } = ports;
  const reached: readonly (readonly [to: PodComponent, ports: readonly number[], why: string])[] = [
    ['etcd', [etcdClient, etcdHTTP], 'the operator manages members and takes snapshots'],
    ['etcd-restore', [etcdClient], 'the operator sends the snapshot to restore'],
    ...(rendersWith(cluster, 'showsAgents')
      ? [['api-server', [konnectivityHealth], 'the operator asks whether a konnectivity server has an agent'] as const]
      : []),
    ['etcd-verify', [etcdClient], 'the operator sends the snapshot to verify, and reads the restored etcd'],
  ];
  return reached.map(([to, numbers, why]) => ({ from, to: component(to), ports: numbers.map(tcp), why }));
}

/**
 * The connections to the receivers of audit records, as their URLs say. A tenant chooses the URLs: nothing that the
 * platform denies is opened by one, and no pod of another namespace.
 * @param denied networks that no control plane may connect to
 */
export function auditFlows(
  cluster: Pick<HostedCluster, 'namespace' | 'spec'>,
  denied: readonly string[],
): readonly Flow[] {
  const flows = auditTargets(cluster).flatMap(({ server }) => flowsTo(new URL(server), cluster.namespace, denied));
  const why = 'records of what happened, where the owner wants them';
  const each = new Map(flows.map((flow) => [JSON.stringify(flow), flow])).values();
  return [...each].map((flow) => ({ ...flow, from: component('api-server'), why }));
}

function flowsTo(
  { protocol, hostname, port }: URL,
  namespace: string,
  denied: readonly string[],
): Pick<Flow, 'to' | 'ports'>[] {
  const there = [tcp(Number(port || (protocol === 'https:' ? httpsPort : 80)))];
  const address = hostname.replace(/^\[|\]$/g, '');
  if (isIP(address) > 0) {
    const isDenied = denied.some((network) => isWithin(address, network));
    return isDenied ? [] : [{ to: { kind: 'address', address }, ports: there }];
  }
  if (serviceNamespace(hostname, namespace) === namespace) {
    // Policies apply after the translation of Services, and the ports of the pods may be others.
    return [{ to: { kind: 'pods', namespace, labels: {} }, ports: [] }];
  }
  return [{ to: { kind: 'host', host: hostname, except: denied }, ports: there }];
}

/** The namespace of the Service that a host name means; undefined for a name outside of the cluster. */
function serviceNamespace(hostname: string, own: string): string | undefined {
  const [, namespace, svc] = hostname.split('.');
  if (namespace === undefined) return own;
  return svc === 'svc' ? namespace : undefined;
}

/**
 * The connections of those who read metrics, as the owner of the control plane lists them. The metrics of the API server itself are at the
 * port to which everyone may connect.
 */
function scraperFlows(cluster: Pick<HostedCluster, 'namespace' | 'spec'>): readonly Flow[] {
  const served: readonly (readonly [PodComponent, number])[] = [
    ['etcd', ports.etcdMetrics],
    ['controller-manager', ports.controllerManager],
    ['scheduler', ports.scheduler],
    ...(usesFanOut(auditTargets(cluster)) ? [['api-server', ports.auditHealth] as const] : []),
  ];
  return (cluster.spec.metricsScrapers ?? []).flatMap(({ namespace, podLabels }) =>
    served.map(([name, number]) => ({
      from: { kind: 'pods', namespace, labels: podLabels } as const,
      to: component(name),
      ports: [tcp(number)],
      why: 'metrics, for those whom the owner lists',
    })),
  );
}

/** Hosts outside. A hosted administrator chooses where the API server connects to, by webhooks and API services. */
function outside(network: ManagementNetwork | undefined): Peer {
  return { kind: 'outside', except: deniedNetworks(network) };
}

function deniedNetworks(network: ManagementNetwork | undefined): string[] {
  return [...new Set([...linkLocal, ...(network?.denied ?? [])])].sort();
}

function dnsServers(dns: ClusterDns = conventionalDns): [Peer, readonly FlowPort[]][] {
  const pods = [...dns.pods, nodeCache].map(({ namespace, labels, ports: at }): [Peer, readonly FlowPort[]] => [
    { kind: 'pods', namespace, labels },
    at,
  ]);
  return dns.networks.length === 0 ? pods : [...pods, [{ kind: 'networks', networks: dns.networks }, dnsPorts]];
}

const httpsPort = 443;

/** Ports of token issuers other than {@link httpsPort}, sorted. An issuer without a valid URL has none. */
function issuerPorts({ spec }: HostedCluster): number[] {
  const urls = Object.keys(spec.oidcProviders ?? {}).flatMap((url) => (URL.canParse(url) ? [new URL(url)] : []));
  const found = urls.flatMap(({ protocol, port }) => (protocol === 'https:' && port !== '' ? [Number(port)] : []));
  return [...new Set(found)].sort((a, b) => a - b);
}

/** Addresses of the node and of the cloud's metadata service, which hands out credentials. */
const linkLocal = ['169.254.0.0/16', 'fe80::/10'];

const dnsPorts: readonly FlowPort[] = [
  { number: 53, protocol: 'TCP' },
  { number: 53, protocol: 'UDP' },
];

/** Labels of the DNS in the installations of Kubernetes' own tools, which most distributions keep. */
const conventionalDns: ClusterDns = {
  pods: [{ namespace: 'kube-system', labels: { 'k8s-app': 'kube-dns' }, ports: dnsPorts }],
  networks: [],
};

/** A cache on each node takes the place of the Service's pods where Cilium redirects to it. */
const nodeCache = { namespace: 'kube-system', labels: { 'k8s-app': 'node-local-dns' }, ports: dnsPorts };

const anyone: Peer = { kind: 'anyone' };

function component(name: PodComponent): Peer {
  return { kind: 'component', component: name };
}

function between(from: PodComponent, to: PodComponent, port: number, why: string): Flow {
  return { from: component(from), to: component(to), ports: [tcp(port)], why };
}

function tcp(number: number): FlowPort {
  return { number, protocol: 'TCP' };
}
