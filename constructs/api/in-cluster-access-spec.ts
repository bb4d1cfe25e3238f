import { z } from 'zod';

/** How pods of the hosted cluster reach their own API server. */
export const InClusterAccess = z
  .enum(['Policy', 'Proxy', 'LoadBalancer'])
  .describe(
    'How pods of the hosted cluster reach their API server. Policy: an admission policy tells every new pod the endpoint in its environment. Proxy: a proxy on every node serves the kubernetes Service. LoadBalancer: the kubernetes Service points at an address of a load balancer. When unset: LoadBalancer where the exposure has an IP address of its own, else Policy, or Proxy before Kubernetes 1.34; a cluster that has proxies keeps them. Pods made before a change reach their API server again when they are made anew.',
  );
export type InClusterAccess = z.output<typeof InClusterAccess>;

/** The part of a spec that says so. */
export interface InClusterAccessSource {
  readonly inClusterAccess?: InClusterAccess | undefined;
}
