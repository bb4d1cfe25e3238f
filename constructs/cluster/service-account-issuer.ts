import type { HostedControlPlaneSpec } from '../api/hosted-control-plane.ts';
import type { ClusterNetwork, HostedCluster } from './cluster.ts';
import type { Endpoint, Issuers } from './facts.ts';
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

/** What a spec says about issuers, each with its part; nothing by default. */
export function namedIssuers({ spec }: Pick<HostedCluster, 'spec'>): readonly string[] {
  const { issuer, acceptedIssuers = [] } = spec.serviceAccountIssuer;
  return [...(issuer === undefined ? [] : [`signs: ${issuer}`]), ...acceptedIssuers];
}

/** The issuers of a control plane that has signed no token yet. */
export function firstIssuers({ spec }: Pick<HostedCluster, 'spec'>, endpoint: Endpoint): Issuers {
  return withAccepted(spec, spec.serviceAccountIssuer.issuer ?? issuerAtEndpoint(endpoint));
}

/** The issuer that signs, and every other one of these and of the spec. */
export function withAccepted(
  { serviceAccountIssuer }: Pick<HostedControlPlaneSpec, 'serviceAccountIssuer'>,
  signing: string,
  ...others: readonly string[]
): Issuers {
  const accepted = new Set([...others, ...(serviceAccountIssuer.acceptedIssuers ?? [])]);
  accepted.delete(signing);
  return [signing, ...accepted];
}

/**
 * Why a key of `oidcProviders` cannot be used, and what to do; undefined when all of them can.
 * @param own the issuers of the cluster's own service accounts
 */
export function conflictingIssuer({ spec }: Pick<HostedCluster, 'spec'>, own: readonly string[]): string | undefined {
  const found = own.find((issuer) => spec.oidcProviders?.[issuer] !== undefined);
  if (found === undefined) return undefined;
  return `spec.oidcProviders["${found}"] is the issuer of the cluster's own service accounts, ${found}, and an API server accepts an issuer once: remove that key`;
}
