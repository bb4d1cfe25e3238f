import { beforeAll, describe, expect, it } from 'vitest';
import type { CertificatePlan } from '../../../constructs/control-plane/certificates/certificate-plans.ts';
import {
  createCA,
  createServiceAccountKey,
  issueCertificate,
  type KeyPair,
  validFor,
} from '../../../reconciler/pki/issue.ts';
import { caProblem, keyProblem, mustIssue, policyChecks, renewalTime } from '../../../reconciler/pki/reissue-policy.ts';

const hour = 3_600_000;
const now = new Date('2026-11-21T12:00:00Z');
/** By which certificates begin before they are issued. */
const backdated = 5 * 60_000;
const later = (ms: number) => new Date(now.getTime() + ms);
const plan: CertificatePlan = {
  secret: 'c1-apiserver',
  signer: 'cluster',
  commonName: 'kube-apiserver',
  organizations: ['one', 'two'],
  usages: ['server', 'client'],
  hosts: ['localhost', 'kubernetes.default.svc'],
};

let ca: KeyPair;
let other: KeyPair;
let leaf: KeyPair;
beforeAll(async () => {
  [ca, other] = await Promise.all([
    createCA({ commonName: 'kubernetes' }, validFor(10 * hour, now)),
    createCA({ commonName: 'kubernetes' }, validFor(10 * hour, now)),
  ]);
  leaf = await issueCertificate(plan, ca, validFor(5 * hour, now));
});

describe('a CA', () => {
  const cases: readonly [when: string, pair: () => KeyPair, at: Date, problem: string | undefined][] = [
    ['can sign from the first second of its lifetime on', () => ca, later(-backdated), undefined],
    [
      'cannot sign before its lifetime begins',
      () => ca,
      later(-backdated - 1),
      'the CA in Secret c1-ca is not valid before 2026-11-21T11:55:00.000Z',
    ],
    ['can sign until the last second of its lifetime', () => ca, later(10 * hour), undefined],
    [
      'cannot sign when it has expired',
      () => ca,
      later(10 * hour + 1),
      'the CA in Secret c1-ca expired on 2026-11-21T22:00:00.000Z',
    ],
    [
      'cannot sign with the key of another one',
      () => ({ ...ca, key: other.key }),
      now,
      'tls.key in Secret c1-ca does not belong to its tls.crt',
    ],
    [
      'is not a leaf certificate',
      () => leaf,
      now,
      'the certificate in Secret c1-ca is not a CA certificate (basic constraints CA: false)',
    ],
    [
      'is not a Secret without a certificate',
      () => ({ ...ca, certificate: '' }),
      now,
      'Secret c1-ca has no certificate in tls.crt',
    ],
    [
      'is not a Secret without a readable key',
      () => ({ ...ca, key: 'x' }),
      now,
      'Secret c1-ca contains no readable certificate and key in tls.crt and tls.key',
    ],
  ];
  it.each(cases)('%s', (_, pair, at, problem) => {
    expect(caProblem('c1-ca', pair(), at)).toBe(problem);
  });
});

describe('a pair of service account keys', () => {
  const [one, two] = [createServiceAccountKey(), createServiceAccountKey()];
  const mismatch = 'tls.key in Secret c1-sa does not belong to its tls.crt, of which the first key signs';
  const cases: readonly [when: string, pair: KeyPair, problem: string | undefined][] = [
    ['signs', one, undefined],
    [
      'signs with its first key beside one that only verifies',
      { certificate: one.certificate + two.certificate, key: one.key },
      undefined,
    ],
    [
      'does not sign with a key that only verifies',
      { certificate: two.certificate + one.certificate, key: one.key },
      mismatch,
    ],
    ['does not sign with another key', { certificate: one.certificate, key: two.key }, mismatch],
    [
      'does not sign with an unreadable key',
      { certificate: one.certificate, key: 'x' },
      'Secret c1-sa contains no readable public key in tls.crt and private key in tls.key',
    ],
  ];
  it.each(cases)('%s', (_, pair, problem) => {
    expect(keyProblem('c1-sa', pair)).toBe(problem);
  });
});

describe('a certificate', () => {
  const input = () => ({ plan, current: leaf, ca: ca.certificate, now });

  it('is renewed from its renewal time on, and not before', () => {
    const due = renewalTime(leaf.certificate, plan.secret);
    expect(mustIssue({ ...input(), now: new Date(due.getTime() - 1) })).toBeUndefined();
    expect(mustIssue({ ...input(), now: due })).toEqual({
      reason: 'RenewalDue',
      message: `c1-apiserver is due for renewal since ${due.toISOString()}`,
    });
  });

  it('is reissued when its life has not begun, and not from its first second on', () => {
    const { notBefore } = validFor(5 * hour, now);
    expect(mustIssue({ ...input(), now: notBefore })).toBeUndefined();
    expect(mustIssue({ ...input(), now: new Date(notBefore.getTime() - 1) })).toEqual({
      reason: 'NotYetValid',
      message: 'c1-apiserver is not valid before 2026-11-21T11:55:00.000Z',
    });
  });

  it('that a clock a year ahead has issued is reissued once, and then stays', async () => {
    const ahead = await issueCertificate(plan, ca, validFor(5 * hour, later(365 * 24 * hour)));
    expect(mustIssue({ ...input(), current: ahead })?.reason).toBe('NotYetValid');
    const again = await issueCertificate(plan, ca, validFor(5 * hour, now));
    expect(mustIssue({ ...input(), current: again })).toBeUndefined();
  });

  it.each<[string, Partial<CertificatePlan>]>([
    ['its hosts, groups and usages are in another order', reversed()],
    ['a host is in capitals', { hosts: ['LOCALHOST', 'kubernetes.default.svc'] }],
    ['a host is repeated', { hosts: ['localhost', 'localhost', 'kubernetes.default.svc'] }],
  ])('stays when %s', (_, change) => {
    expect(mustIssue({ ...input(), plan: { ...plan, ...change } })).toBeUndefined();
  });

  it.each<[string, Partial<CertificatePlan>, reason: string]>([
    ['the same number of hosts with one replaced', { hosts: ['localhost', 'elsewhere'] }, 'OtherHosts'],
    ['the same number of groups with one replaced', { organizations: ['one', 'three'] }, 'OtherSubject'],
    ['one group less, with the same name', { organizations: ['two'] }, 'OtherSubject'],
    ['another name, with the same groups', { commonName: 'kubelet' }, 'OtherSubject'],
  ])('is reissued for %s', (_, change, reason) => {
    expect(mustIssue({ ...input(), plan: { ...plan, ...change } })?.reason).toBe(reason);
  });

  it('is checked against every rule of the policy, in an order in which each may rely on earlier ones', () => {
    expect(policyChecks.map(({ reason }) => reason)).toEqual([
      'Unreadable',
      'KeyMismatch',
      'OtherCA',
      'OtherSubject',
      'OtherUsages',
      'OtherHosts',
      'NotYetValid',
      'RenewalDue',
    ]);
  });

  function reversed(): Partial<CertificatePlan> {
    const { hosts, organizations, usages } = plan;
    return { hosts: hosts.toReversed(), organizations: organizations.toReversed(), usages: usages.toReversed() };
  }
});
