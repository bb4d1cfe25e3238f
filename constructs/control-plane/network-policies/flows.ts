import { managerSelector } from '../../cluster/provider-names.ts';
import type { HostedCluster } from '../../cluster/cluster.ts';
import { exposureStrategy } from '../exposure/exposure.ts';
import type { Facts } from '../../cluster/facts.ts';
import { usesTunnel } from '../../cluster/in-cluster-access.ts';
import type { ComponentName } from '../../cluster/labels.ts';
import { ports } from '../../cluster/ports.ts';

/** A component that runs as pods and whose traffic is therefore restricted. */
export type PodComponent = Exclude<ComponentName, 'certificates'>;

export const podComponents: readonly PodComponent[] = [
  'api-server',
  'controller-manager',
  'scheduler',
  'etcd',
  'etcd-restore',
  'etcd-verify',
];

/** Components that know nobody by name, and so need no DNS. */
const nameless: readonly PodComponent[] = ['etcd-restore', 'etcd-verify'];

/** One end of a connection. */
export type Peer =
  /** Pods of one component of this control plane. */
  | { readonly kind: 'component'; readonly component: PodComponent }
  /** Pods of one namespace that carry these labels. */
  | { readonly kind: 'pods'; readonly namespace: string; readonly labels: Readonly<Record<string, string>> }
  /** Every pod, every node and every host outside, of both IP families. */
  | { readonly kind: 'anyone' }
  /** Hosts outside of the management cluster. */
  | { readonly kind: 'outside' };

/** A port as the pod that listens has it: policies are decided behind Services. */
export interface FlowPort {
  readonly number: number;
  readonly protocol: 'TCP' | 'UDP';
}

/** Connections that are allowed: who opens them, to whom, and what breaks without them. */
export interface Flow {
  readonly from: Peer;
  readonly to: Peer;
  readonly ports: readonly FlowPort[];
  readonly why: string;
}

/**
 * Who talks to whom in the management cluster; everything else is denied. Kubelets need no row: Kubernetes lets the node
 * of a pod through to it. Metrics ports have none: whoever scrapes them adds a policy, for policies add up.
 */
export function flowsOf(cluster: HostedCluster, { operatorNamespace }: Pick<Facts, 'operatorNamespace'>): Flow[] {
  const { securePort } = exposureStrategy(cluster.spec);
  const entrances = [securePort, ports.konnectivityAgent, ...(usesTunnel(cluster.spec) ? [ports.tunnel] : [])];
  return [
    {
      // Not even loadBalancerSourceRanges narrow it: pods see a node's or a load balancer's address where clients'
      // addresses are translated on the way, which is the default. The ranges act in front of the Service.
      from: anyone,
      to: component('api-server'),
      ports: entrances.map(tcp),
      why: 'workers and users come by load balancers, gateways, node ports and Services, from any address',
    },
    {
      from: component('controller-manager'),
      to: component('api-server'),
      ports: [tcp(securePort)],
      why: 'all it does, it does by the API',
    },
    {
      from: component('scheduler'),
      to: component('api-server'),
      ports: [tcp(securePort)],
      why: 'all it does, it does by the API',
    },
    {
      from: component('api-server'),
      to: component('etcd'),
      ports: [tcp(ports.etcdClient)],
      why: 'everything the API stores',
    },
    {
      from: component('api-server'),
      to: outside,
      ports: [tcp(httpsPort)],
      why: 'token issuers, and webhooks that are named by URL; nodes and pods are reached by konnectivity',
    },
    { from: component('etcd'), to: component('etcd'), ports: [tcp(ports.etcdPeer)], why: 'members replicate' },
    ...(operatorNamespace === undefined
      ? []
      : [
          {
            from: { kind: 'pods', namespace: operatorNamespace, labels: managerSelector },
            to: component('etcd'),
            ports: [tcp(ports.etcdClient)],
            why: 'the operator looks after members and takes snapshots',
          } as const,
          {
            from: { kind: 'pods', namespace: operatorNamespace, labels: managerSelector },
            to: component('etcd-restore'),
            ports: [tcp(ports.etcdClient)],
            why: 'the operator sends the snapshot that is restored',
          } as const,
          {
            from: { kind: 'pods', namespace: operatorNamespace, labels: managerSelector },
            to: component('etcd-verify'),
            ports: [tcp(ports.etcdClient)],
            why: 'the operator sends the snapshot that is tried, and looks at the etcd made from it',
          } as const,
        ]),
    ...podComponents
      .filter((name) => !nameless.includes(name))
      .map((name) => ({
        from: component(name),
        // To anywhere: a cluster's DNS may be pods under any label, a cache at an address of the node, or a resolver
        // outside. An answer that does not fit a datagram is asked for again over TCP.
        to: anyone,
        ports: [tcp(dnsPort), { number: dnsPort, protocol: 'UDP' } as const],
        why: 'the names of Services and etcd members',
      })),
  ];
}

/** What one component's policy says of one direction. */
export interface Rule {
  readonly peer: Peer;
  readonly ports: readonly FlowPort[];
}

/** Who may connect to a component. What anyone may do is not repeated for those who are named elsewhere too. */
export function ingressOf(name: PodComponent, flows: readonly Flow[]): Rule[] {
  const rules = flows
    .filter(({ to }) => isComponent(to, name))
    .map(({ from, ports: to }) => ({ peer: from, ports: to }));
  const open = rules.filter(({ peer }) => peer.kind === 'anyone').flatMap((rule) => rule.ports);
  const isOpen = (port: FlowPort) => open.some((other) => isSamePort(port, other));
  return rules.filter((rule) => rule.peer.kind === 'anyone' || !rule.ports.every(isOpen));
}

/** To whom a component may connect. */
export function egressOf(name: PodComponent, flows: readonly Flow[]): Rule[] {
  return flows
    .filter(({ from }) => isComponent(from, name))
    .map(({ to, ports: there }) => ({ peer: to, ports: there }));
}

const dnsPort = 53;
const httpsPort = 443;

const anyone: Peer = { kind: 'anyone' };
const outside: Peer = { kind: 'outside' };

function component(name: PodComponent): Peer {
  return { kind: 'component', component: name };
}

function tcp(number: number): FlowPort {
  return { number, protocol: 'TCP' };
}

function isComponent(peer: Peer, name: PodComponent): boolean {
  return peer.kind === 'component' && peer.component === name;
}

function isSamePort(a: FlowPort, b: FlowPort): boolean {
  return a.number === b.number && a.protocol === b.protocol;
}
