import { hostsOf } from '../../constructs/control-plane/exposure/hosts.ts';
import type { Endpoint } from '../../constructs/cluster/facts.ts';
import { InvalidConfiguration } from '../engine/outcome.ts';
import type { Scope } from './scope.ts';

/**
 * What to say when somebody else has one of the hosts of this endpoint; undefined when it is ours alone. Two routes with
 * one host are both accepted by a Gateway, and either of them may get the traffic.
 */
export function hostClaimed({ cluster, sharedResources }: Scope, { host: apiHost }: Endpoint): string | undefined {
  for (const host of Object.values(hostsOf(cluster.spec, apiHost) ?? {})) {
    const hostOwner = sharedResources.hostOwner(host);
    if (hostOwner === undefined) continue;
    return `the host ${host} belongs to ${hostOwner} already, and leads to one of the two only: delete that one, or give this one another host`;
  }
  return undefined;
}

/** @throws InvalidConfiguration when somebody else has one of the hosts of this endpoint. */
export function refuseClaimedHosts(scope: Scope, endpoint: Endpoint): void {
  const problem = hostClaimed(scope, endpoint);
  if (problem !== undefined) throw new InvalidConfiguration('HostClaimed', problem);
}
