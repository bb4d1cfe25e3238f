import { expect, it } from 'vitest';
import { conflictingIssuer, issuerAtEndpoint } from '../../../constructs/cluster/service-account-issuer.ts';
import { clusterOf } from '../../support/rendered-cluster.ts';

it.each([
  [{ host: 'c1.team.example.org', port: 443 }, 'https://c1.team.example.org'],
  [{ host: 'c1.team.example.org', port: 8443 }, 'https://c1.team.example.org:8443'],
  [{ host: '192.0.2.10', port: 6443 }, 'https://192.0.2.10:6443'],
  [{ host: '2001:db8::443', port: 443 }, 'https://[2001:db8::443]'],
  [{ host: '2001:db8::10', port: 6443 }, 'https://[2001:db8::10]:6443'],
])('the issuer at %o is %s', (endpoint, issuer) => {
  expect(issuerAtEndpoint(endpoint)).toBe(issuer);
  expect(new URL(issuer).origin).toBe(issuer);
});

it.each([
  ['https://c1.team.example.org', true],
  ['https://kubernetes.default.svc.cluster.local', false],
])('the token issuer %s is that of the cluster itself: %s', (url, conflicts) => {
  const oidcProviders = { [url]: { audiences: ['a'], claimMappings: { username: 'claims.sub' } } };
  const message = conflictingIssuer(clusterOf({ spec: { oidcProviders } }), 'https://c1.team.example.org');
  expect(message?.includes(`spec.oidcProviders["${url}"]`) ?? false).toBe(conflicts);
});
