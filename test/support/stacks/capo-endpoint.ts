/** The fields of an OpenStackCluster of v1beta1 by which CAPO finds the control plane endpoint. */
export interface EndpointFields {
  readonly apiServerLoadBalancer?: { readonly enabled?: boolean };
  readonly controlPlaneEndpoint?: { readonly host: string; readonly port: number };
  readonly disableAPIServerFloatingIP?: boolean;
  readonly apiServerFixedIP?: string;
}

/**
 * Which endpoint CAPO takes, in its own order: a load balancer that it creates, the endpoint that is set, a floating IP
 * that it allocates, the fixed IP. Without any of them the OpenStackCluster is never provisioned.
 */
export function endpointOfCapo(spec: EndpointFields): string {
  if (spec.apiServerLoadBalancer?.enabled) return 'an Octavia load balancer';
  if (spec.controlPlaneEndpoint) return `${spec.controlPlaneEndpoint.host}:${spec.controlPlaneEndpoint.port}`;
  if (!spec.disableAPIServerFloatingIP) return 'a floating IP';
  return spec.apiServerFixedIP ?? 'none';
}
