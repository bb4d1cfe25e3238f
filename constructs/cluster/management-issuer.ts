import type { HostedCluster } from './cluster.ts';

/** The issuer of the management cluster's service account tokens, as the platform names it. */
export interface ManagementIssuer {
  /** What tokens have as `iss`; API servers find its keys below this URL. */
  readonly url: string;
  /** PEM certificates with which to verify it; the system roots of the API server image when unset. */
  readonly certificateAuthority?: string | undefined;
}

/** Stands before every name and group of the management cluster in a hosted cluster. */
const prefix = 'management-cluster:';

/**
 * The audience of tokens for one hosted cluster. The management cluster does not accept it, nor does another hosted
 * cluster, and this one does not accept tokens without it.
 */
export function managementAudience({ namespace, name }: Pick<HostedCluster, 'namespace' | 'name'>): string {
  return `workload-cluster:${namespace}/${name}`;
}

/** The cluster with the management cluster as one more token issuer, if its spec asks for that and nothing speaks against it. */
export function withManagementIssuer(cluster: HostedCluster, issuer: ManagementIssuer | undefined): HostedCluster {
  const { spec } = cluster;
  if (!spec.managementClusterIssuer.enabled || !issuer || spec.oidcProviders?.[issuer.url]) return cluster;
  const provider = {
    ...(issuer.certificateAuthority ? { certificateAuthority: issuer.certificateAuthority } : {}),
    audiences: [managementAudience(cluster)],
    claimValidationRules: [
      { expression: 'claims.sub.startsWith("system:serviceaccount:")', message: 'only service accounts can sign in' },
    ],
    claimMappings: {
      username: `"${prefix}" + claims.sub`,
      groups: `["${prefix}system:serviceaccounts", "${prefix}system:serviceaccounts:" + claims.sub.split(":")[2]]`,
    },
  };
  return { ...cluster, spec: { ...spec, oidcProviders: { ...spec.oidcProviders, [issuer.url]: provider } } };
}

/**
 * Why the management cluster cannot be a token issuer although the spec asks for it, and what to do.
 * @param own the issuer of the hosted cluster's own service accounts
 */
export function managementIssuerProblem(
  cluster: HostedCluster,
  issuer: ManagementIssuer | undefined,
  own: string,
): string | undefined {
  const { managementClusterIssuer, oidcProviders } = cluster.spec;
  if (!managementClusterIssuer.enabled) return undefined;
  if (!issuer) {
    return 'managementClusterIssuer is enabled, but the operator knows no issuer of the management cluster: set MANAGEMENT_ISSUER_URL of the operator, or disable it';
  }
  if (issuer.url === own) {
    return `managementClusterIssuer is enabled, but the service accounts of both clusters have the issuer ${own}, and an API server accepts an issuer once: disable managementClusterIssuer, or give the management cluster another issuer`;
  }
  if (oidcProviders?.[issuer.url]?.audiences.join() === managementAudience(cluster)) return undefined;
  return `managementClusterIssuer is enabled, and spec.oidcProviders["${issuer.url}"] is the same issuer: remove one of them`;
}
