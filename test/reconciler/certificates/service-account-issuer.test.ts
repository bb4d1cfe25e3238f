import { expect, it } from 'vitest';
import { identityAnnotation, keptAnnotation, serviceAccountIssuerAnnotation } from '../../../constructs/api/group.ts';
import { clusterOf } from '../../support/rendered-cluster.ts';
import { type IssuerEvidence, issuersOf } from '../../../reconciler/certificates/service-account-issuer.ts';

const byName = 'https://kubernetes.default.svc.cluster.example';
const atEndpoint = 'https://c1.team.example.org:8443';
const recorded = (issuer: string) => ({ annotations: { [serviceAccountIssuerAnnotation]: issuer } });

it.each<[keys: string, evidence: Partial<IssuerEvidence>, issuer: string]>([
  ['new keys', {}, atEndpoint],
  [
    'keys with a record',
    { ...recorded('https://before.example.org'), running: [byName] },
    'https://before.example.org',
  ],
  ['keys with a record of a rebuilt cluster', { ...recorded(byName), isInitialized: false }, byName],
  ['keys of an API server without record', { running: [byName] }, byName],
  [
    'keys of an API server that has lost its record',
    { running: ['https://was.example.org'] },
    'https://was.example.org',
  ],
  ['keys of an earlier release whose API server is gone', { isInitialized: true }, byName],
  ['keys that were adopted from an old backup', { annotations: { [identityAnnotation]: 'team/c1' } }, byName],
  ['keys that an earlier release has kept with its volumes', { annotations: { [keptAnnotation]: 'false' } }, byName],
  ['a record that is no https URL', { ...recorded('http://before.example.org'), running: [byName] }, byName],
  ['a record of two issuers', { ...recorded('https://a.example.org,https://b.example.org') }, atEndpoint],
  ['an empty record', recorded(''), atEndpoint],
])('%s', (_, evidence, issuer) => {
  expect(issuersBy(evidence)).toEqual([issuer]);
});

const [a, b, c] = ['https://a.example.org', 'https://b.example.org', 'https://c.example.org'] as const;

it.each<[string, issuer: string | undefined, accepted: string[], evidence: Partial<IssuerEvidence>, issuers: string[]]>(
  [
    ['new keys', a, [b], {}, [a, b]],
    ['keys that have a record, while nothing runs', a, [b], recorded(c), [a, b]],
    ['keys of the same issuer', a, [b], { ...recorded(a), running: [a, b] }, [a, b]],
    ['others that are accepted', undefined, [b, c], { ...recorded(a), running: [a] }, [a, b, c]],
    ['a record that somebody changes', undefined, [b], { ...recorded(c), running: [a, b] }, [c, b]],
    ['another issuer, which is accepted first', b, [a], { ...recorded(a), running: [a] }, [a, b]],
    [
      'another issuer that some accept',
      b,
      [a, c],
      { ...recorded(a), running: [a, b, c], isRolledOut: false },
      [a, b, c],
    ],
    ['another issuer that all accept', b, [a, c], { ...recorded(a), running: [a, b, c] }, [b, a, c]],
    ['another issuer that is recorded already', b, [a], { ...recorded(b), running: [a, b] }, [b, a]],
    ['another issuer that some sign with', b, [a], { ...recorded(b), running: [b, a], isRolledOut: false }, [b, a]],
    [
      'the former issuer, while some sign with another',
      a,
      [b],
      { ...recorded(b), running: [b, a], isRolledOut: false },
      [b, a],
    ],
    ['the former issuer again', a, [b], { ...recorded(b), running: [b, a] }, [a, b]],
    ['no wish any more, before the change', undefined, [], { ...recorded(a), running: [a, b] }, [a]],
    ['no wish any more, after the change', undefined, [], { ...recorded(b), running: [b, a] }, [b]],
  ],
)('%s', (_, issuer, acceptedIssuers, evidence, issuers) => {
  expect(issuersBy(evidence, { serviceAccountIssuer: { issuer, acceptedIssuers } })).toEqual(issuers);
});

function issuersBy(evidence: Partial<IssuerEvidence>, spec: object = {}): readonly string[] {
  const endpoint = { host: 'c1.team.example.org', port: 8443 };
  const cluster = clusterOf({ spec, network: { serviceDomain: 'cluster.example' } });
  const none = { annotations: {}, running: [], isRolledOut: true, isInitialized: false, endpoint, cluster };
  return issuersOf({ ...none, ...evidence });
}
