import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { lanAddress, loadBalancerNumbers, type Instance } from './instance.ts';

/** The domain of all hosted clusters that are reached by name; any name below it resolves to {@link gatewayAddress}. */
export const clustersDomain = 'clusters.example.com';

/** Address of the gateway of every testbed: behind those of the pool, so that no other Service gets it. */
export function gatewayAddress(instance: Instance): string {
  return lanAddress(instance, loadBalancerNumbers.last + 1);
}

/**
 * Resolves names for a process on the host as the testbed's DNS does for pods and machines: names of hosted clusters
 * resolve to the gateway, all others are resolved by the host.
 */
export function lookupFor(instance: Instance): LookupFunction {
  const address = gatewayAddress(instance);
  return (hostname, options, callback) => {
    if (!isClusterHost(hostname)) lookup(hostname, options, callback);
    else if (options.all) process.nextTick(callback, null, [{ address, family: 4 }]);
    else process.nextTick(callback, null, address, 4);
  };
}

/** Whether a name, of any depth and in any case, is below the domain of hosted clusters. */
export function isClusterHost(hostname: string): boolean {
  return hostname.toLowerCase().replace(/\.$/, '').endsWith(`.${clustersDomain}`);
}
