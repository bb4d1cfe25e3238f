import { describe, expect, it } from 'vitest';
import { managementIssuerProblem, withManagementIssuer } from '../../../constructs/cluster/management-issuer.ts';
import { clusterOf } from '../../support/rendered-cluster.ts';

const issuer = { url: 'https://management.example.org', certificateAuthority: 'PEM' };
const own = 'https://api.example.org:6443';
const other = { audiences: ['a'], claimMappings: { username: 'claims.sub' } };
const clusterWith = (enabled: boolean, oidcProviders?: object) =>
  clusterOf({ spec: { managementClusterIssuer: { enabled }, ...(oidcProviders ? { oidcProviders } : {}) } });

describe('the management cluster', () => {
  it('becomes an issuer beside others, with an audience for this cluster alone, and prefixed names', () => {
    const cluster = withManagementIssuer(clusterWith(true, { 'https://other.example.org': other }), issuer);
    expect(cluster.spec.oidcProviders).toEqual({
      'https://other.example.org': other,
      [issuer.url]: {
        certificateAuthority: 'PEM',
        audiences: ['workload-cluster:team/c1'],
        claimValidationRules: [
          {
            expression: 'claims.sub.startsWith("system:serviceaccount:")',
            message: 'only service accounts can sign in',
          },
        ],
        claimMappings: {
          username: '"management-cluster:" + claims.sub',
          groups:
            '["management-cluster:system:serviceaccounts", "management-cluster:system:serviceaccounts:" + claims.sub.split(":")[2]]',
        },
      },
    });
    expect(managementIssuerProblem(cluster, issuer, own)).toBeUndefined();
  });

  it('is no issuer unless the spec asks for it', () => {
    expect(withManagementIssuer(clusterOf(), issuer)).toEqual(clusterOf());
    expect(managementIssuerProblem(clusterOf(), undefined, own)).toBeUndefined();
  });

  it('is no issuer when the platform names none, and that is said', () => {
    const cluster = withManagementIssuer(clusterWith(true), undefined);
    expect(cluster).toEqual(clusterWith(true));
    expect(managementIssuerProblem(cluster, undefined, own)).toContain('set MANAGEMENT_ISSUER_URL');
  });

  it('does not replace an issuer of the user with its URL, and that is said', () => {
    const cluster = withManagementIssuer(clusterWith(true, { [issuer.url]: other }), issuer);
    expect(cluster.spec.oidcProviders).toEqual({ [issuer.url]: other });
    expect(managementIssuerProblem(cluster, issuer, own)).toContain(
      `spec.oidcProviders["${issuer.url}"] is the same issuer`,
    );
  });

  it('is no issuer when the service accounts of the hosted cluster have the same one, and that is said', () => {
    const cluster = withManagementIssuer(clusterWith(true), issuer);
    expect(managementIssuerProblem(cluster, issuer, issuer.url)).toContain('disable managementClusterIssuer');
  });
});
