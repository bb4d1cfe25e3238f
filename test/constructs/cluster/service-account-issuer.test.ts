import { expect, it } from 'vitest';
import { issuerAtEndpoint } from '../../../constructs/cluster/service-account-issuer.ts';

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
