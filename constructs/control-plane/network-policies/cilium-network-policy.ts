import { Construct } from 'constructs';
import * as cilium from '../../../imports/cilium.io.ts';
import type { HostedCluster } from '../../cluster/cluster.ts';
import { everyFamily, networkOfAddress } from '../../cluster/cidr.ts';
import { definedOnly } from '../../cluster/defined-only.ts';
import { objectLabels, selectorLabels } from '../../cluster/labels.ts';
import { egressOf, type FlowPort, ingressOf, type Peer } from './flow.ts';
import type { PolicyProps } from './network-policy.ts';

/** Cilium's own policy of one component. Unlike a policy of Kubernetes, it distinguishes the cluster from everything outside of it. */
export class CiliumNetworkPolicy extends Construct {
  constructor(scope: Construct, id: string, { cluster, component, name, flows }: PolicyProps) {
    super(scope, id);
    const ingress = ingressOf(component, flows).flatMap(({ peer, ports }) =>
      selected(peer, cluster).map(({ entities: fromEntities, endpoints: fromEndpoints, networks: fromCidrSet }) => ({
        ...definedOnly({ fromEntities, fromEndpoints, fromCidrSet }),
        toPorts: [{ ports: ports.map(port) }],
      })),
    );
    const allowed = egressOf(component, flows);
    const knowsNames = allowed.some(({ peer }) => peer.kind === 'host');
    const egress = allowed.flatMap(({ peer, ports }) =>
      selected(peer, cluster).map(({ entities: toEntities, endpoints: toEndpoints, networks: toCidrSet, toFqdNs }) => ({
        ...definedOnly({ toEntities, toEndpoints, toCidrSet, toFqdNs }),
        // Cilium learns the addresses of names from the answers of the DNS, and reads them only where a rule says so.
        ...(ports.length === 0
          ? {}
          : { toPorts: [{ ports: ports.map(port), ...(knowsNames && isDns(ports) ? { rules: everyName } : {}) }] }),
      })),
    );
    new cilium.CiliumNetworkPolicy(this, 'policy', {
      metadata: { name, namespace: cluster.namespace, labels: objectLabels(cluster.name, component) },
      spec: {
        endpointSelector: { matchLabels: selectorLabels(cluster.name, component) },
        // Cilium restricts a direction only when it has a rule: the empty one, which allows nothing, where nothing is allowed.
        ingress: ingress.length > 0 ? ingress : [{}],
        egress: egress.length > 0 ? egress : [{}],
      },
    });
  }
}

/** Whom a rule is about, in the fields whose names have the direction before them. */
interface Selected {
  readonly entities?: cilium.CiliumNetworkPolicySpecIngressFromEntities[];
  readonly endpoints?: cilium.CiliumNetworkPolicySpecIngressFromEndpoints[];
  /** Hosts outside of the cluster only: Cilium knows pods and nodes by their identity, and never by an address. */
  readonly networks?: cilium.CiliumNetworkPolicySpecIngressFromCidrSet[];
  /** Hosts outside of the cluster by name. Nothing that connects to a control plane has one. */
  readonly toFqdNs?: cilium.CiliumNetworkPolicySpecEgressToFqdNs[];
}

/** One for each rule, because a rule selects in one way only. */
function selected(peer: Peer, cluster: HostedCluster): Selected[] {
  switch (peer.kind) {
    case 'anyone':
      // Also what an empty selector would leave out: nodes, other namespaces, and Cilium's own ingress proxy.
      return [{ entities: ['all'] }];
    case 'outside':
      return [{ networks: everyFamily(peer.except) }];
    case 'host':
      return [{ toFqdNs: [{ matchName: peer.host }] }];
    case 'address':
      return [{ networks: [{ cidr: networkOfAddress(peer.address) }] }];
    case 'networks':
      return [{ networks: peer.networks.map((cidr) => ({ cidr })) }, { entities: ['host'] }];
    case 'component':
      // Without a namespace it means the policy's own one.
      return [{ endpoints: [{ matchLabels: selectorLabels(cluster.name, peer.component) }] }];
    case 'pods':
      // The namespace is a label like the others, so that all of them must match.
      return [{ endpoints: [{ matchLabels: { ...peer.labels, [namespaceLabel]: peer.namespace } }] }];
  }
}

/** A port without a protocol would be open for every protocol. */
function port({ number, protocol }: FlowPort): cilium.CiliumNetworkPolicySpecIngressToPortsPorts {
  return { port: String(number), protocol };
}

/** Only the DNS is asked by UDP. */
function isDns(ports: readonly FlowPort[]): boolean {
  return ports.some(({ protocol }) => protocol === 'UDP');
}

const everyName: cilium.CiliumNetworkPolicySpecEgressToPortsRules = { dns: [{ matchPattern: '*' }] };

/** How Cilium calls the namespace of a pod in selectors. */
const namespaceLabel = 'k8s:io.kubernetes.pod.namespace';
