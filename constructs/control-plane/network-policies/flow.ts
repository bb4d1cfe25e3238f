import type { ComponentName } from '../../cluster/labels.ts';

/** A component that runs as pods and whose traffic is therefore restricted. Nothing in a probe of etcd ever starts. */
export type PodComponent = Exclude<ComponentName, 'certificates' | 'revision' | 'etcd-probe'>;

export const podComponents: readonly PodComponent[] = [
  'api-server',
  'controller-manager',
  'scheduler',
  'etcd',
  'etcd-restore',
  'etcd-verify',
  'api-server-check',
];

/** One end of a connection. */
export type Peer =
  /** Pods of one component of this control plane. */
  | { readonly kind: 'component'; readonly component: PodComponent }
  /** Pods of one namespace with these labels. */
  | { readonly kind: 'pods'; readonly namespace: string; readonly labels: Readonly<Record<string, string>> }
  /** Every pod, every node and every external host, of both IP families. */
  | { readonly kind: 'anyone' }
  /** Hosts outside the management cluster, without some networks. */
  | { readonly kind: 'outside'; readonly except: readonly string[] }
  /** Exactly this address. */
  | { readonly kind: 'address'; readonly address: string }
  /** A host with this name, which is outside and in none of some networks. */
  | { readonly kind: 'host'; readonly host: string; readonly except: readonly string[] }
  /** Hosts with addresses in these networks, the pod's own node among them. */
  | { readonly kind: 'networks'; readonly networks: readonly string[] };

/** A port of the pod that listens. Policies apply after the translation of Services. */
export interface FlowPort {
  /** A number, or the name that the pod gives to its port. */
  readonly number: number | string;
  readonly protocol: 'TCP' | 'UDP';
}

/** Allowed connections: source, destination, ports, and what breaks without them. */
export interface Flow {
  readonly from: Peer;
  readonly to: Peer;
  /** Every port when empty. */
  readonly ports: readonly FlowPort[];
  readonly why: string;
}

/** One rule of a component's policy, for one direction. */
export interface Rule {
  readonly peer: Peer;
  readonly ports: readonly FlowPort[];
}

/** The sources that may connect to a component. Ports that are open to anyone are not repeated for other peers. */
export function ingressOf(name: PodComponent, flows: readonly Flow[]): Rule[] {
  const rules = flows
    .filter(({ to }) => isComponent(to, name))
    .map(({ from, ports: to }) => ({ peer: from, ports: to }));
  const open = rules.filter(({ peer }) => peer.kind === 'anyone').flatMap((rule) => rule.ports);
  const isOpen = (port: FlowPort) => open.some((other) => isSamePort(port, other));
  return rules.filter((rule) => rule.peer.kind === 'anyone' || !rule.ports.every(isOpen));
}

/** The destinations that a component may connect to. */
export function egressOf(name: PodComponent, flows: readonly Flow[]): Rule[] {
  return flows
    .filter(({ from }) => isComponent(from, name))
    .map(({ to, ports: there }) => ({ peer: to, ports: there }));
}

function isComponent(peer: Peer, name: PodComponent): boolean {
  return peer.kind === 'component' && peer.component === name;
}

function isSamePort(a: FlowPort, b: FlowPort): boolean {
  return a.number === b.number && a.protocol === b.protocol;
}
