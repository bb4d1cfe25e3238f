import { expect, it } from 'vitest';
import { identityAnnotation, keptAnnotation, serviceAccountIssuerAnnotation } from '../../../constructs/api/group.ts';
import { type IssuerEvidence, issuerOf } from '../../../reconciler/pki/service-account-issuer.ts';

const byName = 'https://kubernetes.default.svc.cluster.example';
const atEndpoint = 'https://c1.team.example.org:8443';
const recorded = (issuer: string) => ({ annotations: { [serviceAccountIssuerAnnotation]: issuer } });

it.each<[keys: string, evidence: Partial<IssuerEvidence>, issuer: string]>([
  ['new keys', {}, atEndpoint],
  ['keys with a record', { ...recorded('https://before.example.org'), running: byName }, 'https://before.example.org'],
  ['keys with a record of a rebuilt cluster', { ...recorded(byName), isInitialized: false }, byName],
  ['keys of an API server without record', { running: byName }, byName],
  ['keys of an API server that has lost its record', { running: 'https://was.example.org' }, 'https://was.example.org'],
  ['keys of an earlier release whose API server is gone', { isInitialized: true }, byName],
  ['keys that were adopted from an old backup', { annotations: { [identityAnnotation]: 'team/c1' } }, byName],
  ['keys that an earlier release has kept with its volumes', { annotations: { [keptAnnotation]: 'false' } }, byName],
  ['a record that is no https URL', { ...recorded('http://before.example.org'), running: byName }, byName],
  ['a record of two issuers', { ...recorded('https://a.example.org,https://b.example.org') }, atEndpoint],
  ['an empty record', recorded(''), atEndpoint],
])('%s', (_, evidence, issuer) => {
  const endpoint = { host: 'c1.team.example.org', port: 8443 };
  const network = { serviceDomain: 'cluster.example' };
  const none = { annotations: {}, running: undefined, isInitialized: false, endpoint, network };
  expect(issuerOf({ ...none, ...evidence })).toBe(issuer);
});
