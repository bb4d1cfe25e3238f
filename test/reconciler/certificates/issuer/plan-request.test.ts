import type { CertificateRequestObject } from '../../../../imports/cert-manager.ts';
import { describe, expect, it, test } from 'vitest';
import { CertificateRequest } from '../../../../constructs/api/resources.ts';
import { requestName } from '../../../../reconciler/certificates/issuer/certificate-request.ts';
import { backOffMs, planRequest, type RequestInput } from '../../../../reconciler/certificates/issuer/plan-request.ts';

const now = new Date('2026-11-21T12:00:00Z');
const minutes = (count: number) => new Date(now.getTime() + count * 60_000);
const issuerRef = { name: 'ours', kind: 'Issuer', group: 'cert-manager.io' };
const pem = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
const certificate = Buffer.from(`${pem}-----BEGIN CERTIFICATE-----\nBBBB\n-----END CERTIFICATE-----\n`).toString(
  'base64',
);

type Condition = NonNullable<NonNullable<CertificateRequestObject['status']>['conditions']>[number];

const condition = (type: string, status: string, more: Partial<Condition> = {}): Condition => ({
  type,
  status,
  lastTransitionTime: minutes(-1).toISOString(),
  ...more,
});

function request(
  attempt: number,
  changes: Omit<Partial<CertificateRequestObject>, 'metadata'> = {},
  hash = 'aaaa1111',
) {
  const { apiVersion, kind } = CertificateRequest;
  const metadata = { name: requestName('c1-ca', hash, attempt), namespace: 'team' };
  return { apiVersion, kind, metadata, spec: { issuerRef }, ...changes };
}

const question = (requests: RequestInput['requests'], changes: Partial<RequestInput> = {}): RequestInput => ({
  requests,
  secret: 'c1-ca',
  keyHash: 'aaaa1111',
  issuerRef,
  problemOf: () => undefined,
  now,
  ...changes,
});

const conditions = (...list: Condition[]) => ({ status: { conditions: list } });
const denied = conditions(
  condition('Denied', 'True', { message: 'no CAs here' }),
  condition('Ready', 'False', { reason: 'Denied' }),
);
const issued = { status: { conditions: [condition('Ready', 'True', { reason: 'Issued' })], certificate } };

describe('an issuer gets a request', () => {
  it.each<[string, RequestInput, number, number]>([
    ['if there is none', question([]), 1, 0],
    ['again for another key', question([request(3, issued, 'bbbb2222')]), 1, 1],
    ['if the spec names another issuer', question([request(1, { spec: { issuerRef: { name: 'other' } } })]), 2, 1],
    ['again when the back-off after a refusal has passed', question([request(1, denied)], { now: minutes(4) }), 2, 1],
    [
      'again at once if an old certificate cannot be used',
      question([request(1, issued)], { problemOf: () => 'half of its lifetime has passed', now: minutes(600) }),
      2,
      1,
    ],
  ])('%s', (_, given, attempt, outdated) => {
    const decision = planRequest(given);
    expect(decision).toMatchObject({ kind: 'ask', attempt });
    expect(decision).toHaveProperty('outdated.length', outdated);
  });
});

describe('a request is waited for', () => {
  it.each<[string, Omit<Partial<CertificateRequestObject>, 'metadata'>, string]>([
    ['while it is neither approved nor denied', {}, 'it is not approved yet'],
    ['while it is not signed', conditions(condition('Approved', 'True')), 'it is approved but not signed yet'],
    [
      'while its issuer does not exist',
      conditions(
        condition('Approved', 'True'),
        condition('Ready', 'False', { reason: 'Pending', message: 'Referenced "Issuer" not found' }),
      ),
      'Referenced "Issuer" not found',
    ],
    ['while it has no certificate', { status: { conditions: [condition('Ready', 'True')] } }, 'waits for'],
  ])('%s, without a requeue', (_, changes, message) => {
    const decision = planRequest(question([request(1, changes)]));
    expect(decision).toMatchObject({
      kind: 'wait',
      message: expect.stringContaining('CertificateRequest team/c1-ca-aaaa1111-1 waits for Issuer ours: ') as string,
    });
    expect(decision).toHaveProperty('message', expect.stringContaining(message));
    expect(decision).not.toHaveProperty('requeueAt');
  });

  it.each<[string, Omit<Partial<CertificateRequestObject>, 'metadata'>, string]>([
    ['denied', denied, 'was denied: no CAs here'],
    ['invalid', conditions(condition('InvalidRequest', 'True', { message: 'bad' })), 'was rejected as invalid: bad'],
    [
      'failed',
      { status: { conditions: [condition('Ready', 'False', { reason: 'Failed', message: 'no CA' })] } },
      'has failed: no CA',
    ],
  ])('until the back-off has passed if the issuer has %s it', (_, changes, message) => {
    const decision = planRequest(question([request(2, changes), request(1, denied)]));
    expect(decision).toMatchObject({ kind: 'wait', requeueAt: minutes(9), outdated: [request(1, denied)] });
    expect(decision).toHaveProperty('message', expect.stringContaining(message));
    expect(decision).toHaveProperty('message', expect.stringContaining('or immediately after you delete this one'));
  });

  it('if its certificate cannot be used, and the message says so', () => {
    const decision = planRequest(question([request(1, issued)], { problemOf: () => 'it is for another key' }));
    expect(decision).toMatchObject({ kind: 'wait', requeueAt: minutes(4) });
    expect(decision).toHaveProperty('message', expect.stringContaining('it is for another key'));
  });
});

test('the first certificate of the result is used, whatever others follow', () => {
  expect(planRequest(question([request(1, denied), request(2, issued)]))).toEqual({ kind: 'take', certificate: pem });
});

test('the back-off after refusals grows from minutes to hours', () => {
  expect([1, 2, 3, 7, 20].map((attempt) => backOffMs(attempt) / 60_000)).toEqual([5, 10, 20, 320, 360]);
});
