import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import type { HostedCluster } from '../../cluster/cluster.ts';
import { definedOnly } from '../../cluster/defined-only.ts';
import { objectLabels, selectorLabels } from '../../cluster/labels.ts';
import { everyFamily, networkOfAddress } from '../../cluster/cidr.ts';
import { egressOf, type Flow, type FlowPort, ingressOf, type Peer, type PodComponent } from './flow.ts';

export interface PolicyProps {
  readonly cluster: HostedCluster;
  readonly component: PodComponent;
  /** Name of the policy, which is that of the workload it restricts. */
  readonly name: string;
  readonly flows: readonly Flow[];
  /** Whether it restricts who may connect to the component, too. @default true */
  readonly restrictsIngress?: boolean;
}

/** The NetworkPolicy of one component. It requires a network plugin that enforces it. */
export class NetworkPolicy extends Construct {
  constructor(scope: Construct, id: string, { cluster, component, name, flows, restrictsIngress = true }: PolicyProps) {
    super(scope, id);
    const ingress = ingressOf(component, flows).map(({ peer, ports }) => ({
      ...definedOnly({ from: peersOf(peer, cluster) }),
      ...portsOf(ports),
    }));
    const egress = egressOf(component, flows).map(({ peer, ports }) => ({
      ...definedOnly({ to: peersOf(peer, cluster) }),
      ...portsOf(ports),
    }));
    new k8s.KubeNetworkPolicy(this, 'policy', {
      metadata: { name, namespace: cluster.namespace, labels: objectLabels(cluster.name, component) },
      spec: {
        podSelector: { matchLabels: selectorLabels(cluster.name, component) },
        // A direction that is listed here and has no rule is denied. An empty list would mean the same, but the API
        // server drops it, and every apply would then be a change.
        policyTypes: restrictsIngress ? ['Ingress', 'Egress'] : ['Egress'],
        ...(restrictsIngress && ingress.length > 0 ? { ingress } : {}),
        ...(egress.length > 0 ? { egress } : {}),
      },
    });
  }
}

/** Undefined for anyone: an ipBlock would exclude pods with some plugins, and one IP family with all of them. */
function peersOf(peer: Peer, cluster: HostedCluster): k8s.NetworkPolicyPeer[] | undefined {
  switch (peer.kind) {
    case 'anyone':
      return undefined;
    case 'outside':
      return everyFamily(peer.except).map((ipBlock) => ({ ipBlock }));
    case 'host':
      // It knows no names: everything that the name may mean.
      return everyFamily(peer.except).map((ipBlock) => ({ ipBlock }));
    case 'address':
      return [{ ipBlock: { cidr: networkOfAddress(peer.address) } }];
    case 'networks':
      return peer.networks.map((cidr) => ({ ipBlock: { cidr } }));
    case 'component':
      // Without a namespace selector it selects pods in the policy's own namespace.
      return [{ podSelector: { matchLabels: selectorLabels(cluster.name, peer.component) } }];
    case 'pods':
      return [
        {
          namespaceSelector: { matchLabels: { [namespaceNameLabel]: peer.namespace } },
          // The API server drops an empty map, and every apply would then be a change.
          podSelector: Object.keys(peer.labels).length === 0 ? {} : { matchLabels: { ...peer.labels } },
        },
      ];
  }
}

/** A rule without ports allows all of them. */
function portsOf(ports: readonly FlowPort[]): { ports?: k8s.NetworkPolicyPort[] } {
  return ports.length === 0 ? {} : { ports: ports.map(port) };
}

function port({ number, protocol }: FlowPort): k8s.NetworkPolicyPort {
  const { IntOrString } = k8s;
  return {
    port: typeof number === 'number' ? IntOrString.fromNumber(number) : IntOrString.fromString(number),
    protocol,
  };
}

/** The API server sets this label on every namespace, and rejects changes. */
const namespaceNameLabel = 'kubernetes.io/metadata.name';
