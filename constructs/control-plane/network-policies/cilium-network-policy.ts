import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { CiliumNetworkPolicy as CiliumNetworkPolicyResource } from '../../api/resources.ts';
import type { HostedCluster } from '../../cluster/cluster.ts';
import { objectLabels, selectorLabels } from '../../cluster/labels.ts';
import { egressOf, ingressOf, type Peer, type Rule } from './flows.ts';
import type { PolicyProps } from './network-policy.ts';

/** What Cilium's own policy says of one component. Unlike Kubernetes' it can tell the world from the cluster. */
export class CiliumNetworkPolicy extends Construct {
  constructor(scope: Construct, id: string, { cluster, component, name, flows }: PolicyProps) {
    super(scope, id);
    const { apiVersion, kind } = CiliumNetworkPolicyResource;
    new ApiObject(this, 'policy', {
      apiVersion,
      kind,
      metadata: { name, namespace: cluster.namespace, labels: objectLabels(cluster.name, component) },
      spec: {
        endpointSelector: { matchLabels: selectorLabels(cluster.name, component) },
        ingress: denying(ingressOf(component, flows).map((allowed) => rule('from', allowed, cluster))),
        egress: denying(egressOf(component, flows).map((allowed) => rule('to', allowed, cluster))),
      },
    });
  }
}

interface EndpointSelector {
  readonly matchLabels: Readonly<Record<string, string>>;
}

function rule(direction: 'from' | 'to', { peer, ports }: Rule, cluster: HostedCluster): object {
  const [field, values] = selected(peer, cluster);
  // A port without a protocol would be open for every protocol.
  const numbered = ports.map(({ number, protocol }) => ({ port: String(number), protocol }));
  return { [`${direction}${field}`]: values, toPorts: [{ ports: numbered }] };
}

/** Whom a rule is about, and the end of the field's name that is the same in both directions. */
function selected(
  peer: Peer,
  cluster: HostedCluster,
): ['Entities', readonly string[]] | ['Endpoints', readonly EndpointSelector[]] {
  switch (peer.kind) {
    case 'anyone':
      // Also what an empty selector would leave out: nodes, other namespaces, and Cilium's own ingress proxy.
      return ['Entities', ['all']];
    case 'outside':
      return ['Entities', ['world']];
    case 'component':
      // Without a namespace it means the policy's own one.
      return ['Endpoints', [{ matchLabels: selectorLabels(cluster.name, peer.component) }]];
    case 'pods':
      // The namespace is a label like the others, so that all of them must match.
      return ['Endpoints', [{ matchLabels: { ...peer.labels, [namespaceLabel]: peer.namespace } }]];
  }
}

/** How Cilium calls the namespace of a pod in selectors. */
const namespaceLabel = 'k8s:io.kubernetes.pod.namespace';

/** Cilium restricts a direction only when it has a rule: the empty one, which allows nothing, where nothing is allowed. */
function denying(rules: readonly object[]): readonly object[] {
  return rules.length > 0 ? rules : [{}];
}
