import { Construct } from 'constructs';
import type { HostedCluster } from '../../cluster/cluster.ts';
import type { Facts } from '../../cluster/facts.ts';
import { namesOf } from '../../cluster/names.ts';
import { CiliumNetworkPolicy } from './cilium-network-policy.ts';
import { podComponents } from './flow.ts';
import { flowsOf, unrestrictedFlowsOf } from './flows.ts';
import { NetworkPolicy } from './network-policy.ts';

/**
 * The kind of policies that restrict a control plane. Disabled ones become Kubernetes' own, which still deny what the
 * platform denies to all.
 */
export function policyKind(
  { spec }: { readonly spec: Pick<HostedCluster['spec'], 'networkPolicy'> },
  { ciliumServed = false }: Pick<Facts, 'ciliumServed'>,
): 'NetworkPolicy' | 'CiliumNetworkPolicy' {
  switch (spec.networkPolicy) {
    case 'Disabled':
      return 'NetworkPolicy';
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
    const restrictsIngress = cluster.spec.networkPolicy !== 'Disabled';
    const { apiServer, apiServerCheck, controllerManager, scheduler, etcd, etcdRestore, etcdVerify } = namesOf(
      cluster.name,
    );
    const names = {
      'api-server': apiServer,
      'controller-manager': controllerManager,
      scheduler,
      etcd,
      'etcd-restore': etcdRestore,
      'etcd-verify': etcdVerify,
      'api-server-check': apiServerCheck,
    };
    const flows = restrictsIngress ? flowsOf(cluster, facts) : unrestrictedFlowsOf(cluster, facts);
    for (const component of podComponents) {
      const props = { cluster, component, name: names[component], flows, restrictsIngress };
      if (kind === 'CiliumNetworkPolicy') new CiliumNetworkPolicy(this, component, props);
      else new NetworkPolicy(this, component, props);
    }
  }
}
