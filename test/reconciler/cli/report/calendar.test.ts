import { expect, it } from 'vitest';
import type { CertificateStatus } from '../../../../constructs/api/certificate-status.ts';
import { calendar, calendarOf } from '../../../../reconciler/cli/report/calendar.ts';
import { reportedAt, reportedObject, reportsOf } from '../../../support/reported-fleet.ts';

const day = 86_400_000;
const inDays = (days: number) => new Date(reportedAt + days * day).toISOString();
const fleetOf = (...certificates: CertificateStatus[]) =>
  reportsOf([reportedObject(['team', 'c1'], day, {}, { certificates })]);
const certificate = (days: number, renewal?: number, more: Partial<CertificateStatus> = {}): CertificateStatus => ({
  kind: 'Server',
  notAfter: inDays(days),
  secret: 'c1-apiserver',
  ...(renewal === undefined ? {} : { renewsAt: inDays(renewal) }),
  ...more,
});

it.each([
  ['of the operator is renewed before it expires', certificate(90, 30), 30, 'renewed'],
  ['of its user expires', certificate(90), 90, 'expires'],
  ['whose renewal is due is late', certificate(90, -1), 90, 'late'],
  ['of several, of which one is late, is late', certificate(90, 30, { expiring: ['c1-old'] }), 90, 'late'],
  ['that has expired says so', certificate(-3, -30), -3, 'expired'],
] as const)('a certificate %s', (_, one, days, what) => {
  expect(calendarOf(fleetOf(one), reportedAt)).toMatchObject([
    { day: inDays(days).slice(0, 10), what, place: 'team/c1' },
  ]);
});

it('certificates of a control plane on one day are one entry, in the order of the days', () => {
  const fleet = fleetOf(
    certificate(90, 60),
    certificate(80, 40, { kind: 'Client', secret: 'c1-client' }),
    certificate(90, 40, { kind: 'Kubeconfig', secret: 'c1-kubeconfig' }),
  );
  expect(calendarOf(fleet, reportedAt).map(({ kinds, secrets }) => [kinds, secrets])).toEqual([
    [
      ['Client', 'Kubeconfig'],
      ['c1-client', 'c1-kubeconfig'],
    ],
    [['Server'], ['c1-apiserver']],
  ]);
});

it('months of the next year are drawn, and what needs a person is open', () => {
  const fleet = fleetOf(
    certificate(90, 80),
    certificate(200, undefined, { kind: 'Client' }),
    certificate(3000, 2000, { kind: 'ClusterCA' }),
  );
  const { text } = calendar(fleet, reportedAt);
  expect([...text.matchAll(/<svg class="month" role="img" aria-label="([^"]+)"/g)].map(([, label]) => label)).toEqual([
    'February 2027: day 17: the operator renews',
    'June 2027: day 17: expires: its user renews it',
  ]);
  expect(
    [...text.matchAll(/<details( open)?><summary>([^<]+)/g)].map(([, open, label]) => `${label}${open ?? ''}`),
  ).toEqual([
    'February 2027: the operator renews (1)',
    'June 2027: expires: its user renews it (1) open',
    'May 2032: the operator renews (1)',
  ]);
});

it('no certificate is said to be none', () => {
  expect(calendar([], reportedAt).text).toBe('<p>No certificate is reported yet.</p>');
});
