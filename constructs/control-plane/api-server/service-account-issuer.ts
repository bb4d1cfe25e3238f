import type { HostedCluster } from '../../cluster/cluster.ts';

/** The issuer in the tokens of the hosted cluster's own service accounts. Everything that needs it asks here. */
export function serviceAccountIssuer({ network }: Pick<HostedCluster, 'network'>): string {
  return `https://kubernetes.default.svc.${network.serviceDomain}`;
}

/** Why a key of `oidcProviders` cannot be used, and what to do; undefined when all of them can. */
export function conflictingIssuer(cluster: Pick<HostedCluster, 'network' | 'spec'>): string | undefined {
  const own = serviceAccountIssuer(cluster);
  if (cluster.spec.oidcProviders?.[own] === undefined) return undefined;
  return `spec.oidcProviders["${own}"] is the issuer of the cluster's own service accounts, ${own}, and an API server accepts an issuer once: remove that key`;
}
