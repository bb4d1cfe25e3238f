import { S3ServiceException } from '@aws-sdk/client-s3';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { AnswerTooLong } from '../../../../reconciler/backup/store/answer-limit.ts';
import { storeError, type StoreFailure } from '../../../../reconciler/backup/store/store-error.ts';
import type { StoreSettings } from '../../../../reconciler/backup/store/store-settings.ts';

const settings: StoreSettings = {
  endpoint: 'https://s3.example.com',
  region: 'eu-central-1',
  bucket: 'backups',
  prefix: '',
  credentials: { kind: 'static', accessKeyId: 'AKIA-ID', secretAccessKey: 's3cr3t' },
};

const answered = (name: string, status: number): Error =>
  Object.assign(new Error('AKIA-ID s3cr3t'), { name, $metadata: { httpStatusCode: status } });
const network = (code: string): Error => Object.assign(new Error('connect 10.0.0.1:443'), { code });

it('quotes what the store says, cut and without what may be a credential', () => {
  const said = (message: string) =>
    storeError(
      'write a',
      settings,
      new S3ServiceException({ name: 'InvalidRequest', message, $fault: 'client', $metadata: { httpStatusCode: 400 } }),
    ).message;
  expect(said('Content-MD5 is required\n for Object Lock')).toContain(
    '; the store says: "Content-MD5 is required  for Object Lock"',
  );
  expect(said('key AKIA-ID, s3cr3t and eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.abc')).toContain('"key ..., ... and ..."');
  expect(said('a b '.repeat(500)).length).toBeLessThan(450);
});

describe('an error of the store', () => {
  it.each<[StoreFailure, Error, string]>([
    ['CredentialsRefused', answered('InvalidAccessKeyId', 403), 'does not accept the credentials (InvalidAccessKeyId)'],
    ['CredentialsRefused', answered('SignatureDoesNotMatch', 403), 'correct them in the Secret'],
    ['AccessDenied', answered('AccessDenied', 403), 'denies the operation'],
    ['ProxyRefused', network('ERR_PROXY_TUNNEL'), 'name the host of the store in NO_PROXY'],
    ['AccessDenied', answered('403', 403), 'denies the operation'],
    ['BucketNotFound', answered('NoSuchBucket', 404), 'create it, or correct its name in the Secret'],
    ['ObjectNotFound', answered('NotFound', 404), 'the object does not exist'],
    ['WrongRegion', answered('PermanentRedirect', 301), 'is not in region eu-central-1'],
    ['ClockSkewed', answered('RequestTimeTooSkewed', 403), 'synchronize both with NTP'],
    ['StoreFull', answered('QuotaExceeded', 403), 'free space'],
    ['Unavailable', answered('InternalError', 500), 'cannot serve the request now (InternalError, HTTP 500)'],
    ['Unavailable', answered('SlowDown', 503), 'the operator tries again'],
    ['Failed', answered('InvalidArgument', 400), 'the store answered InvalidArgument, HTTP 400'],
    [
      'CertificateNotTrusted',
      network('UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
      'put the right CA certificate into ca.crt of the Secret',
    ],
    ['CertificateNotTrusted', network('DEPTH_ZERO_SELF_SIGNED_CERT'), 'put the right CA certificate into ca.crt'],
    ['CertificateNotTrusted', network('CERT_HAS_EXPIRED'), 'has expired: renew it'],
    ['CertificateNotTrusted', network('ERR_TLS_CERT_ALTNAME_INVALID'), 'is for another name'],
    ['CertificateNotTrusted', network('ERR_SSL_WRONG_VERSION_NUMBER'), 'write http:// before the host'],
    ['Unreachable', network('ECONNREFUSED'), 'cannot be reached (ECONNREFUSED)'],
    ['Unreachable', network('ENOTFOUND'), 'correct the host in the Secret'],
    ['Unreachable', Object.assign(new Error('no connection'), { name: 'TimeoutError' }), 'cannot be reached'],
    ['Stalled', Object.assign(new Error('idle'), { name: 'SilentConnection' }), 'did not respond in time'],
    ['AnswerTooLong', new AnswerTooLong('endless'), 'the answer does not end'],
  ])('is %s for %o', (reason, thrown, words) => {
    const error = storeError('upload a/b/snapshot.db', settings, thrown);
    expect(error.message).toContain(words);
    expect(error.message).toContain('cannot upload a/b/snapshot.db (bucket backups at https://s3.example.com): ');
    expect(error.reason).toBe(reason);
  });

  it('contains nothing of the request, even for a malformed answer', () => {
    const odd = answered('</Code> s3cr3t \u001b[31m', 400);
    const error = storeError('list backups', { ...settings, endpoint: undefined }, odd);
    expect(error.message).toBe(
      'cannot list backups (bucket backups at AWS in eu-central-1): the store answered unknown failure, HTTP 400: check the logs of the store',
    );
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('s3cr3t');
  });

  it('is not wrapped twice', () => {
    const once = storeError('list backups', settings, network('ECONNREFUSED'));
    expect(storeError('delete backups', settings, once)).toBe(once);
  });
});
