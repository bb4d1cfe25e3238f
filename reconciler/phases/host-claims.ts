import { exposureOf } from '../../constructs/api/exposure-spec.ts';
import type { HeldHost } from '../../constructs/api/status.ts';
import { hostsOf } from '../../constructs/control-plane/exposure/hosts.ts';
import type { Endpoint } from '../../constructs/cluster/facts.ts';
import { InvalidConfiguration } from '../engine/outcome.ts';
import { objectKey } from '../kube/object.ts';
import type { Scope } from './scope.ts';

/**
 * The problem when another control plane holds one of the host names of this endpoint; otherwise undefined. A Gateway
 * accepts two routes with the same host name, and either of them may get the traffic.
 */
export function hostClaimed(scope: Scope, endpoint: Endpoint): string | undefined {
  for (const host of hostNames(scope, endpoint)) {
    const hostOwner = scope.sharedResources.hostOwner(host);
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

/**
 * Records that this control plane holds the host names of its endpoint, which must be free. Returns the whole record;
 * undefined for exposure strategies that share no address.
 */
export async function holdHosts(scope: Scope, endpoint: Endpoint): Promise<HeldHost[] | undefined> {
  const names = hostNames(scope, endpoint);
  if (names.length === 0) return undefined;
  const held = scope.sharedResources.heldHosts();
  const since = { ...gatewayOf(scope), heldSince: scope.now.toISOString() };
  const hosts = names.map((name) => held.find((host) => host.name === name) ?? { name, ...since });
  if (names.some((name) => !held.some((host) => host.name === name))) await scope.writer.recordHosts(hosts);
  return hosts;
}

function gatewayOf({ cluster }: Scope): { gateway?: string } {
  const exposure = exposureOf(cluster.spec);
  return exposure.kind === 'gateway' ? { gateway: objectKey(exposure.gateway) } : {};
}

function hostNames({ cluster }: Scope, { host }: Endpoint): string[] {
  return Object.values(hostsOf(cluster.spec, host) ?? {}).map((name: string) => name.toLowerCase());
}
