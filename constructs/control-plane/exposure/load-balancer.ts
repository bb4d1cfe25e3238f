import { isIP } from 'node:net';
import type { Exposure } from '../../api/exposure-spec.ts';
import type { Endpoint } from '../../cluster/facts.ts';
import { definedOnly } from '../../cluster/defined-only.ts';
import { namesOf } from '../../cluster/names.ts';
import { ports } from '../../cluster/ports.ts';
import { mismatch } from './fixed-endpoint.ts';
import type { ExposureStrategy, ResolvedEndpoints } from './strategy.ts';

/** A Service of type LoadBalancer. The endpoint is its address or host name. */
export function loadBalancer({ loadBalancer: exposure }: Exposure<'loadBalancer'>): ExposureStrategy {
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
    contradiction: () => undefined,
    endpoint({ name }, { serviceAddress }, preset) {
      const host = serviceAddress?.ip ?? serviceAddress?.hostname;
      if (!host) {
        return {
          known: false,
          reason: 'WaitingForOtherPhases',
          meanwhile: endpointsAt(preset),
          message: `Service ${namesOf(name).apiService} of type LoadBalancer has no address yet: wait for the load balancer, or check its controller`,
        };
      }
      const offered = { host, port: exposure.port };
      const problem = mismatch(preset, offered);
      if (problem) return { ...problem, meanwhile: endpointsAt(preset) };
      return {
        known: true,
        endpoint: { ...offered, ...definedOnly(preset) },
        konnectivityEndpoint: { host, port: ports.konnectivityAgent },
        advertiseAddress: serviceAddress?.ip,
      };
    },
  };
}

/** The endpoints that clients use while the load balancer has no address, or another one. */
function endpointsAt({ host, port }: Partial<Endpoint>): ResolvedEndpoints | undefined {
  if (host === undefined || port === undefined) return undefined;
  return {
    endpoint: { host, port },
    konnectivityEndpoint: { host, port: ports.konnectivityAgent },
    advertiseAddress: isIP(host) ? host : undefined,
  };
}
