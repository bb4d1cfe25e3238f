import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import type { HostedCluster } from '../../cluster/cluster.ts';
import { definedOnly } from '../../cluster/defined.ts';
import { objectLabels, selectorLabels } from '../../cluster/labels.ts';
import { egressOf, type Flow, type FlowPort, ingressOf, type Peer, type PodComponent } from './flows.ts';

export interface PolicyProps {
  readonly cluster: HostedCluster;
  readonly component: PodComponent;
  /** Name of the policy, which is that of the workload it restricts. */
  readonly name: string;
  readonly flows: readonly Flow[];
}

/** The NetworkPolicy of one component. It requires a network plugin that enforces it. */
export class NetworkPolicy extends Construct {
  constructor(scope: Construct, id: string, { cluster, component, name, flows }: PolicyProps) {
    super(scope, id);
    const ingress = ingressOf(component, flows).map(({ peer, ports }) => ({
      ...definedOnly({ from: peersOf(peer, cluster) }),
      ports: ports.map(port),
    }));
    const egress = egressOf(component, flows).map(({ peer, ports }) => ({
      ...definedOnly({ to: peersOf(peer, cluster) }),
      ports: ports.map(port),
    }));
    new k8s.KubeNetworkPolicy(this, 'policy', {
      metadata: { name, namespace: cluster.namespace, labels: objectLabels(cluster.name, component) },
      spec: {
        podSelector: { matchLabels: selectorLabels(cluster.name, component) },
        // A direction that is listed here and has no rule is denied. An empty list would mean the same, but the API
        // server drops it, and every apply would then be a change.
        policyTypes: ['Ingress', 'Egress'],
        ...(ingress.length > 0 ? { ingress } : {}),
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
      return [{ ipBlock: { cidr: '0.0.0.0/0' } }, { ipBlock: { cidr: '::/0' } }];
    case 'component':
      // Without a namespace selector it selects pods in the policy's own namespace.
      return [{ podSelector: { matchLabels: selectorLabels(cluster.name, peer.component) } }];
    case 'pods':
      return [
        {
          namespaceSelector: { matchLabels: { [namespaceNameLabel]: peer.namespace } },
          podSelector: { matchLabels: { ...peer.labels } },
        },
      ];
  }
}

function port({ number, protocol }: FlowPort): k8s.NetworkPolicyPort {
  return { port: k8s.IntOrString.fromNumber(number), protocol };
}

/** The API server sets this label on every namespace, and rejects changes. */
const namespaceNameLabel = 'kubernetes.io/metadata.name';
