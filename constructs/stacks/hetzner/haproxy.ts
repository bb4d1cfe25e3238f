import type { networkZones } from './values.ts';

/** The chart of HAProxy's own ingress controller, and where it is published. */
export const haproxyChart = {
  name: 'kubernetes-ingress',
  repository: 'https://haproxytech.github.io/helm-charts',
} as const;

export interface HaproxyValuesProps {
  /**
   * Region of a load balancer that Hetzner's cloud controller manager creates.
   * @default none: the management cluster's own load balancer forwards port 443 to the controller
   */
  readonly loadBalancerRegion?: keyof typeof networkZones;
}

/** The values with which HAProxy's ingress controller passes TLS through to control planes, by host name. */
export function haproxyValues({ loadBalancerRegion }: HaproxyValuesProps = {}): object {
  const service =
    loadBalancerRegion === undefined
      ? { type: 'ClusterIP' }
      : {
          type: 'LoadBalancer',
          annotations: { 'load-balancer.hetzner.cloud/location': loadBalancerRegion },
        };
  return { controller: { ingressClass: 'haproxy', config: { 'ssl-passthrough': 'true' }, service } };
}
