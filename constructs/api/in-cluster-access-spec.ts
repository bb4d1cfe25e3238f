import { z } from 'zod';

/** How pods of the hosted cluster reach their own API server. */
export const InClusterAccess = z
  .enum(['Policy', 'Proxy', 'LoadBalancer'])
  .describe(
    'How pods of the hosted cluster reach their API server. Policy: an admission policy sets the endpoint in the environment of every new pod. Proxy: a proxy on every node serves the kubernetes Service. LoadBalancer: the kubernetes Service points to the address of a load balancer. When unset: LoadBalancer if the exposure strategy has its own IP address, otherwise Policy, or Proxy before Kubernetes 1.34; a cluster with proxies keeps them. After a change, recreate existing pods so that they reach the API server again.',
  );
export type InClusterAccess = z.output<typeof InClusterAccess>;

/** The part of a spec that sets it. */
export interface InClusterAccessSource {
  readonly inClusterAccess?: InClusterAccess | undefined;
}
