import type { HostedControlPlaneSpec } from '../../api/hosted-control-plane.ts';
import { usesTunnel } from '../../cluster/in-cluster-access.ts';
import type { HostedCluster } from '../../cluster/cluster.ts';
import type { Endpoint } from '../../cluster/facts.ts';
import { namesOf } from '../../cluster/names.ts';
import { ports } from '../../cluster/ports.ts';
import type { Hosts } from './hosts.ts';
import type { EndpointDecision, EndpointInput, ServiceShape } from './strategy.ts';

/**
 * The Service behind a shared entry that distinguishes control planes by host name. It needs an address of its own only
 * if pods of the hosted cluster connect to that address.
 */
export function sharedService(spec: HostedControlPlaneSpec): ServiceShape {
  return {
    type: spec.inClusterAccess === 'LoadBalancer' ? 'LoadBalancer' : 'ClusterIP',
    apiPorts: { api: ports.api },
    ...(usesTunnel(spec) ? { tunnelPort: ports.tunnel } : {}),
  };
}

/** The decision for a control plane with these host names on one port of a shared entry. */
export function endpointByHostName(
  hosts: Hosts,
  port: number,
  { cluster, outside, gatewayListener }: { cluster: HostedCluster; outside: EndpointInput; gatewayListener?: string },
): EndpointDecision {
  const at = (host: string): Endpoint => ({ host, port });
  const wantsAddress = cluster.spec.inClusterAccess === 'LoadBalancer';
  const { ip, hostname } = outside.serviceAddress ?? {};
  if (wantsAddress && ip === undefined) {
    const service = namesOf(cluster.name).apiService;
    const given = hostname === undefined ? 'no address yet' : `the host name ${hostname} but no IP address`;
    return {
      known: false,
      reason: 'InvalidConfiguration',
      message: `Service ${service} of type LoadBalancer has ${given}, but inClusterAccess LoadBalancer needs an IP address that pods can connect to: set inClusterAccess to Policy or Proxy`,
    };
  }
  return {
    known: true,
    endpoint: at(hosts.api),
    konnectivityEndpoint: at(hosts.konnectivity),
    ...(usesTunnel(cluster.spec) ? { tunnelEndpoint: at(hosts.tunnel) } : {}),
    ...(wantsAddress ? { advertiseAddress: ip } : {}),
    ...(gatewayListener === undefined ? {} : { gatewayListener }),
  };
}
