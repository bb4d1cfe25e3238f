import type { ClusterNetwork } from './cluster.ts';
import type { Endpoint } from './facts.ts';
import { formatEndpoint } from './facts.ts';

/** The port of `https` URLs, which then name none: discovery compares issuers as texts. */
const httpsPort = 443;

/**
 * The issuer of a new control plane's tokens, as a URL. Discovery works at it inside and outside of the hosted cluster,
 * and no API server has the same one: an API server refuses foreign tokens of its own issuer.
 */
export function issuerAtEndpoint(endpoint: Endpoint): string {
  const address = formatEndpoint(endpoint);
  return `https://${endpoint.port === httpsPort ? address.slice(0, -`:${httpsPort}`.length) : address}`;
}

/** The issuer of kubeadm, and of control planes of earlier releases, as a URL: the name of the Service `kubernetes`. */
export function issuerByServiceName({ serviceDomain }: Pick<ClusterNetwork, 'serviceDomain'>): string {
  return `https://kubernetes.default.svc.${serviceDomain}`;
}
