import { CiliumNetworkPolicy } from '../../constructs/api/resources.ts';
import { fewestNetworks } from '../../constructs/cluster/cidr.ts';
import { controlPlaneChart } from './charts.ts';
import type { KubeObject } from '../kube/object.ts';
import { done, InvalidConfiguration, type Outcome, wait } from '../engine/outcome.ts';
import { phase } from './scope.ts';

/**
 * Policies that restrict the control plane's traffic. They depend only on the spec and are applied first, so that they
 * exist before the pods. No other phase waits for them, because the control plane works without them.
 */
export const networkPolicies = phase({
  condition: 'NetworkPoliciesReady',
  needs: [],
  async run({ cluster, facts, onRefused, sharedResources, writer }): Promise<Outcome> {
    const ciliumServed = sharedResources.servedVersions('CiliumNetworkPolicy').length > 0;
    if (cluster.spec.networkPolicy === 'CiliumNetworkPolicy' && !ciliumServed) {
      throw new InvalidConfiguration(
        'CiliumNotInstalled',
        `networkPolicy is CiliumNetworkPolicy, but the management cluster does not serve ${CiliumNetworkPolicy.apiVersion}: install Cilium, or set networkPolicy to NetworkPolicy or Auto`,
      );
    }

    const { denied = [], dns } = facts.managementNetwork ?? {};
    const managementNetwork = { denied: fewestNetworks([...denied, ...sharedResources.deniedNetworks()]), dns };
    const live = await writer.apply<PolicyObject>(
      controlPlaneChart(cluster, { ...facts, ciliumServed, managementNetwork }, 'network-policies'),
      { onRefused },
    );

    const problem = live.map(problemOf).find((found) => found !== undefined);
    const found = { ciliumServed, managementNetwork };
    return problem === undefined ? done(found) : wait('PolicyInvalid', problem, { facts: found });
  },
});

/** A policy of either kind: only Cilium writes a status, and a NetworkPolicy has none. */
interface PolicyObject extends KubeObject {
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
  };
}

/** The reason why Cilium does not enforce a policy; undefined when it does, or has not checked it yet. */
function problemOf({ kind, metadata, status }: PolicyObject): string | undefined {
  const valid = status?.conditions?.find(({ type }) => type === 'Valid');
  if (valid?.status !== 'False') return undefined;
  return `Cilium does not accept ${kind} ${metadata.name}: ${valid.message ?? 'it gives no reason'}; set networkPolicy to NetworkPolicy until Cilium accepts it`;
}
