import { Construct } from 'constructs';
import type { HostedCluster } from '../../cluster/cluster.ts';
import type { Facts } from '../../cluster/facts.ts';
import { namesOf } from '../../cluster/names.ts';
import { CiliumNetworkPolicy } from './cilium-network-policy.ts';
import { flowsOf, podComponents } from './flows.ts';
import { NetworkPolicy } from './network-policy.ts';

/** The kind of policies that restrict a control plane; undefined when they are disabled. */
export function policyKind(
  { spec }: { readonly spec: Pick<HostedCluster['spec'], 'networkPolicy'> },
  { ciliumServed = false }: Pick<Facts, 'ciliumServed'>,
): 'NetworkPolicy' | 'CiliumNetworkPolicy' | undefined {
  switch (spec.networkPolicy) {
    case 'Disabled':
      return undefined;
    case 'Auto':
      return ciliumServed ? 'CiliumNetworkPolicy' : 'NetworkPolicy';
    case 'NetworkPolicy':
    case 'CiliumNetworkPolicy':
      return spec.networkPolicy;
  }
}

export interface NetworkPoliciesProps {
  readonly cluster: HostedCluster;
  readonly facts: Facts;
}

/** One policy per component, with its name. It allows the flows of the component in both directions. */
export class NetworkPolicies extends Construct {
  constructor(scope: Construct, id: string, { cluster, facts }: NetworkPoliciesProps) {
    super(scope, id);
    const kind = policyKind(cluster, facts);
    if (!kind) return;
    const { apiServer, controllerManager, scheduler, etcd, etcdRestore, etcdVerify } = namesOf(cluster.name);
    const names = {
      'api-server': apiServer,
      'controller-manager': controllerManager,
      scheduler,
      etcd,
      'etcd-restore': etcdRestore,
      'etcd-verify': etcdVerify,
    };
    const flows = flowsOf(cluster, facts);
    for (const component of podComponents) {
      const props = { cluster, component, name: names[component], flows };
      if (kind === 'CiliumNetworkPolicy') new CiliumNetworkPolicy(this, component, props);
      else new NetworkPolicy(this, component, props);
    }
  }
}
