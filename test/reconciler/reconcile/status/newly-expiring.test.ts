import { describe, expect, it } from 'vitest';
import type { CertificateKind, CertificateStatus } from '../../../../constructs/api/certificate-status.ts';
import { newlyExpiring } from '../../../../reconciler/reconcile/status/newly-expiring.ts';
import { certificateExpiring } from '../../../../reconciler/reconcile/status/events.ts';

const notAfter = '2027-03-01T00:00:00Z';
const renewsAt = '2026-11-01T00:00:00Z';
const servers = (...expiring: string[]): CertificateStatus[] => [
  { kind: 'Server', notAfter, secret: 'c1-apiserver', renewsAt, ...(expiring.length > 0 ? { expiring } : {}) },
];
const theirs = (kind: CertificateKind, secret: string): CertificateStatus => ({
  kind,
  notAfter,
  secret,
  expiring: [secret],
});

describe('overdue certificates', () => {
  it.each<[string, CertificateStatus[] | undefined, CertificateStatus[] | undefined, string[]]>([
    ['when there is no status yet', undefined, servers('c1-apiserver'), ['c1-apiserver']],
    ['if none is overdue', servers(), servers(), []],
    ['if one becomes overdue', servers(), servers('c1-apiserver'), ['c1-apiserver']],
    ['if it still is', servers('c1-apiserver'), servers('c1-apiserver'), []],
    ['if another one is too', servers('c1-apiserver'), servers('c1-apiserver', 'c1-tunnel'), ['c1-tunnel']],
    ['if it was renewed', servers('c1-apiserver'), servers(), []],
    ['if nothing could be read', servers('c1-apiserver'), undefined, []],
    ["when it is a user's kubeconfig", [], [theirs('Kubeconfig', 'c1-kubeconfig')], ['c1-kubeconfig']],
    ["not if it is a user's CA, which a condition reports", [], [theirs('ClusterCA', 'c1-ca')], []],
  ])('are reported once: %s', (_, before, after, expected) => {
    expect(newlyExpiring(before, after).map(({ secret }) => secret)).toEqual(expected);
  });

  it.each<[Parameters<typeof certificateExpiring>[0], string, RegExp]>([
    [
      { kind: 'Server', secret: 'c1-apiserver', notAfter, renewsAt },
      'CertificateExpiring',
      /renewal of the certificate in Secret c1-apiserver is late/,
    ],
    [
      { kind: 'Kubeconfig', secret: 'c1-kubeconfig', notAfter },
      'CertificateExpiring',
      /the operator does not renew it/,
    ],
    [{ kind: 'EtcdCA', secret: 'c1-etcd', notAfter, renewsAt }, 'CAExpiring', /condition CARotationReady/],
  ])('are reported with a remedy: %o', (late, reason, note) => {
    expect(certificateExpiring(late)).toMatchObject({ type: 'Warning', reason, note: expect.stringMatching(note) });
    expect(certificateExpiring(late).note).toContain(notAfter);
  });
});
