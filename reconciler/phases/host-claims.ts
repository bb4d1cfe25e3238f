import { hostsOf } from '../../constructs/control-plane/exposure/hosts.ts';
import type { Endpoint } from '../../constructs/cluster/facts.ts';
import { InvalidConfiguration } from '../engine/outcome.ts';
import type { Scope } from './scope.ts';

/**
 * The problem when another control plane holds one of the host names of this endpoint; otherwise undefined. A Gateway
 * accepts two routes with the same host name, and either of them may get the traffic.
 */
export function hostClaimed({ cluster, sharedResources }: Scope, { host: apiHost }: Endpoint): string | undefined {
  for (const host of Object.values(hostsOf(cluster.spec, apiHost) ?? {})) {
    const hostOwner = sharedResources.hostOwner(host);
    if (hostOwner === undefined) continue;
    return `the host name ${host} already belongs to ${hostOwner}, and can lead to only one of the two: choose another host name for this one, or delete the other one`;
  }
  return undefined;
}

/** @throws InvalidConfiguration when another control plane holds one of the host names of this endpoint. */
export function refuseClaimedHosts(scope: Scope, endpoint: Endpoint): void {
  const problem = hostClaimed(scope, endpoint);
  if (problem !== undefined) throw new InvalidConfiguration('HostClaimed', problem);
}
