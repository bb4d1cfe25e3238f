import type { Exposure } from '../../api/exposure-spec.ts';
import { definedOnly } from '../defined.ts';
import { ports } from '../ports.ts';
import type { WayIn } from './way-in.ts';

/** A Service of type LoadBalancer; the endpoint is the address or hostname it is given. */
export function loadBalancer(
  { loadBalancer: exposure }: Extract<Exposure, { kind: 'loadBalancer' }>,
  serviceName: string,
): WayIn {
  return {
    service: {
      type: 'LoadBalancer',
      annotations: exposure.annotations,
      apiPorts: { api: exposure.port, ...(exposure.port === ports.api ? {} : { 'legacy-api': ports.api }) },
      spec: definedOnly({
        loadBalancerClass: exposure.loadBalancerClass,
        loadBalancerIp: exposure.loadBalancerIP,
        loadBalancerSourceRanges: exposure.loadBalancerSourceRanges,
      }),
    },
    securePort: ports.api,
    endpoint(service) {
      const [first] = service?.loadBalancer ?? [];
      const host = first?.ip ?? first?.hostname;
      if (!host) {
        return {
          known: false,
          reason: 'WaitingForLoadBalancerAddress',
          message: `Service ${serviceName} of type LoadBalancer has no address yet: it is assigned by the management cluster's load balancer implementation`,
        };
      }
      return {
        known: true,
        endpoint: { host, port: exposure.port },
        konnectivityEndpoint: { host, port: ports.konnectivityAgent },
        advertiseAddress: first?.ip,
      };
    },
  };
}
