import type { ClusterNetwork, HostedCluster } from './cluster.ts';
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

/**
 * Why a key of `oidcProviders` cannot be used, and what to do; undefined when all of them can.
 * @param own the issuer of the cluster's own service accounts
 */
export function conflictingIssuer({ spec }: Pick<HostedCluster, 'spec'>, own: string): string | undefined {
  if (spec.oidcProviders?.[own] === undefined) return undefined;
  return `spec.oidcProviders["${own}"] is the issuer of the cluster's own service accounts, ${own}, and an API server accepts an issuer once: remove that key`;
}
