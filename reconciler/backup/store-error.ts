import type { StoreSettings } from './store-settings.ts';

/** Why a request to a store failed. */
export type StoreFailure =
  | 'CredentialsRefused'
  | 'AccessDenied'
  | 'BucketNotFound'
  | 'ObjectNotFound'
  | 'WrongRegion'
  | 'ClockSkewed'
  | 'CertificateNotTrusted'
  | 'Unreachable'
  | 'Stalled'
  | 'StoreFull'
  | 'Unavailable'
  | 'Failed';

/** A request to a store that failed. The message is for users: what, where, why, what to do. It holds no credentials. */
export class StoreError extends Error {
  readonly reason: StoreFailure;

  constructor(reason: StoreFailure, message: string) {
    super(message);
    this.name = 'StoreError';
    this.reason = reason;
  }
}

/**
 * The error for users of what the client threw. `action` is what was asked for, such as `upload a/b/snapshot.db`.
 * What the client threw is not kept: servers and the client put parts of requests into it.
 */
export function storeError(action: string, settings: StoreSettings, thrown: unknown): StoreError {
  if (thrown instanceof StoreError) return thrown;
  const seen = seenIn(thrown);
  const reason = reasonOf(seen);
  const place = `bucket ${settings.bucket} at ${settings.endpoint ?? `AWS in ${settings.region}`}`;
  return new StoreError(reason, `${action}, ${place}: ${sentences[reason](seen, settings)}`);
}

/** The error of a stream on which nothing moved for too long. */
export function stalledError(what: string, limitMs: number): StoreError {
  return new StoreError(
    'Stalled',
    `${what}: nothing has moved for ${limitMs / 1000} s, it was given up; it is tried again`,
  );
}

/** What an error shows that is safe to say. */
interface Seen {
  /** Name of the failure as S3, Node or OpenSSL calls it. */
  readonly name: string;
  /** HTTP status; 0 when no answer came. */
  readonly status: number;
}

function seenIn(thrown: unknown): Seen {
  const error = (typeof thrown === 'object' && thrown) || {};
  const metadata: unknown = '$metadata' in error ? error.$metadata : undefined;
  const status = typeof metadata === 'object' && metadata && 'httpStatusCode' in metadata ? metadata.httpStatusCode : 0;
  const code = 'code' in error ? error.code : undefined;
  const name = 'name' in error ? error.name : undefined;
  // Node's errors are all called Error and told apart by their code
  const found = [code, name].find((text) => typeof text === 'string' && /^\w{2,64}$/.test(text));
  return {
    name: typeof found === 'string' ? found : 'unknown failure',
    status: typeof status === 'number' ? status : 0,
  };
}

const byName: Readonly<Record<string, StoreFailure>> = {
  InvalidAccessKeyId: 'CredentialsRefused',
  SignatureDoesNotMatch: 'CredentialsRefused',
  InvalidToken: 'CredentialsRefused',
  ExpiredToken: 'CredentialsRefused',
  AccessDenied: 'AccessDenied',
  NoSuchBucket: 'BucketNotFound',
  NoSuchKey: 'ObjectNotFound',
  NotFound: 'ObjectNotFound',
  AuthorizationHeaderMalformed: 'WrongRegion',
  IllegalLocationConstraintException: 'WrongRegion',
  PermanentRedirect: 'WrongRegion',
  RequestTimeTooSkewed: 'ClockSkewed',
  // no connection in time
  TimeoutError: 'Unreachable',
  ETIMEDOUT: 'Unreachable',
  SilentConnection: 'Stalled',
  RequestTimeout: 'Stalled',
  QuotaExceeded: 'StoreFull',
  InsufficientStorage: 'StoreFull',
  XMinioStorageFull: 'StoreFull',
  SlowDown: 'Unavailable',
  ServiceUnavailable: 'Unavailable',
};

const byStatus: Readonly<Record<number, StoreFailure>> = {
  301: 'WrongRegion',
  401: 'CredentialsRefused',
  403: 'AccessDenied',
  404: 'ObjectNotFound',
  507: 'StoreFull',
};

const isNetworkCode = /^(E(CONN|HOST|NET|AI_|NOTFOUND|PIPE)|UND_ERR)/;
const isCertificateCode = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|^ERR_TLS|^ERR_SSL|^EPROTO$/;

function reasonOf({ name, status }: Seen): StoreFailure {
  if (isCertificateCode.test(name)) return 'CertificateNotTrusted';
  if (isNetworkCode.test(name)) return 'Unreachable';
  return byName[name] ?? byStatus[status] ?? (status >= 500 ? 'Unavailable' : 'Failed');
}

const sentences: Readonly<Record<StoreFailure, (seen: Seen, settings: StoreSettings) => string>> = {
  CredentialsRefused: ({ name }) => `the store does not accept the credentials (${name}): correct those in the Secret`,
  AccessDenied: () => 'the store knows the credentials but does not allow this: let them list, read, write and delete',
  BucketNotFound: () => 'there is no such bucket: create it, or correct its name in the Secret',
  ObjectNotFound: () =>
    'there is no such object: it has been deleted, or the bucket or prefix in the Secret is another one',
  WrongRegion: (_, { region }) => `the bucket is not in region ${region}: correct the region in the Secret`,
  ClockSkewed: () => "the store's clock and that of this provider differ too much: set both by NTP",
  CertificateNotTrusted: ({ name }) => `${certificateAdvice(name)} (${name})`,
  Unreachable: ({ name }) =>
    `the store cannot be reached (${name}): correct the host in the Secret, or let the provider through to it`,
  Stalled: () => 'the store took the connection and then was silent for too long: look at it, or at what is in between',
  StoreFull: ({ name }) => `the store is full (${name}): make room, raise the quota, or keep fewer backups`,
  Unavailable: ({ name, status }) => `the store cannot serve this now (${name}, HTTP ${status}): it is tried again`,
  Failed: ({ name, status }) => `the store answered ${name}${status > 0 ? `, HTTP ${status}` : ''}: look at its logs`,
};

function certificateAdvice(name: string): string {
  if (name === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return "the store's certificate is for another name: correct the host in the Secret, or the certificate";
  }
  if (name === 'CERT_HAS_EXPIRED') return "the store's certificate has expired: renew it";
  if (/^ERR_SSL|^EPROTO$/.test(name))
    return 'the store does not speak TLS: write http:// before the host in the Secret';
  return "the store's certificate is not signed by an authority that is trusted: put the right one into ca.crt of the Secret";
}
