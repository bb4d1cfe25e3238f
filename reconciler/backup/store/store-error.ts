import { type Guard, insideSentence } from '../../clusters/network/destinations.ts';
import type { StoreSettings } from './store-settings.ts';

/** Reason of a failed request to a store. */
export type StoreFailure =
  | 'CredentialsRefused'
  | 'AccessDenied'
  | 'BucketNotFound'
  | 'ObjectNotFound'
  | 'WrongRegion'
  | 'ClockSkewed'
  | 'CertificateNotTrusted'
  | 'Unreachable'
  | 'ProxyRefused'
  | 'Stalled'
  | 'AnswerTooLong'
  | 'StoreFull'
  | 'Unavailable'
  | 'Failed';

/** A failed request to a store. The message is for users: what, where, why, what to do. It contains no credentials. */
export class StoreError extends Error {
  readonly reason: StoreFailure;

  constructor(reason: StoreFailure, message: string) {
    super(message);
    this.name = 'StoreError';
    this.reason = reason;
  }
}

/**
 * Converts an error of the client to an error for users. `action` is the operation, such as `upload a/b/snapshot.db`.
 * The original error is dropped, because servers and the client include parts of requests in it. Where its name is not enough,
 * the message of the store is quoted without what may be a credential.
 */
export function storeError(action: string, settings: StoreSettings, thrown: unknown, guard?: Guard): StoreError {
  const place = `bucket ${settings.bucket} at ${settings.endpoint ?? `AWS in ${settings.region}`}`;
  if (guard?.isSecretive && !isAnswerOfStore(thrown))
    return new StoreError('Unreachable', `cannot ${action} (${place}): ${insideSentence}`);
  if (thrown instanceof StoreError) return thrown;
  const seen = seenIn(thrown);
  const reason = reasonOf(seen);
  const says = quoted.includes(reason) ? ownWords(thrown, settings) : undefined;
  const words = says === undefined ? '' : `; the store says: "${says}"`;
  return new StoreError(reason, `cannot ${action} (${place}): ${sentences[reason](seen, settings)}${words}`);
}

/**
 * Whether an S3 service has answered: with a code of its own, or to a HEAD request, whose answers have none. The operator does
 * not report what else listens inside.
 */
function isAnswerOfStore(thrown: unknown): boolean {
  if (thrown instanceof StoreError) return !['Stalled', 'AnswerTooLong'].includes(thrown.reason);
  if (typeof thrown !== 'object' || thrown === null || !('$fault' in thrown)) return false;
  return ('Code' in thrown && typeof thrown.Code === 'string') || byName[seenIn(thrown).name] !== undefined;
}

/** The error of a stream without progress for too long. */
export function stalledError(what: string, limitMs: number): StoreError {
  return new StoreError(
    'Stalled',
    `cannot ${what}: no progress, or next to none, for ${limitMs / 1000} s; the operator tries again`,
  );
}

/** Failures whose reason only the store knows. */
const quoted: readonly StoreFailure[] = ['AccessDenied', 'Failed', 'Unavailable', 'StoreFull'];
const longestQuote = 200;

/**
 * The message of an answer, in one line; undefined for an error of the client itself. Only an answer has a `$fault`: the class of
 * these errors would load the client of S3 into every operator at its start.
 */
function ownWords(thrown: unknown, { credentials }: StoreSettings): string | undefined {
  if (!(thrown instanceof Error) || !('$fault' in thrown) || seenIn(thrown).status === 0) return undefined;
  const secrets = credentials.kind === 'static' ? [credentials.accessKeyId, credentials.secretAccessKey] : [];
  const open = secrets
    .filter((secret) => secret !== '')
    .reduce((text, secret) => text.replaceAll(secret, '...'), thrown.message);
  const line = open
    .slice(0, 4 * longestQuote)
    // Keys, tokens and signatures are long words.
    .replaceAll(/[\w+/=%.~-]{24,}/g, '...')
    .replaceAll(/[^\x20-\x7e]+|["\\\\]/g, ' ')
    .trim();
  if (line === '' || line === thrown.name || line === 'UnknownError') return undefined;
  return line.length > longestQuote ? `${line.slice(0, longestQuote)}...` : line;
}

/** The parts of an error that are safe to print. */
interface Seen {
  /** Name of the failure in S3, Node or OpenSSL. */
  readonly name: string;
  /** HTTP status; 0 without a response. */
  readonly status: number;
}

function seenIn(thrown: unknown): Seen {
  const error = (typeof thrown === 'object' && thrown) || {};
  const metadata: unknown = '$metadata' in error ? error.$metadata : undefined;
  const status = typeof metadata === 'object' && metadata && 'httpStatusCode' in metadata ? metadata.httpStatusCode : 0;
  const code = 'code' in error ? error.code : undefined;
  const name = 'name' in error ? error.name : undefined;
  // Node's errors all have the name Error, and differ in their code.
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
  // No connection in time.
  TimeoutError: 'Unreachable',
  ETIMEDOUT: 'Unreachable',
  ERR_PROXY_TUNNEL: 'ProxyRefused',
  SilentConnection: 'Stalled',
  AnswerTooLong: 'AnswerTooLong',
  // What the caller aborts is no failure of the store.
  AbortError: 'Stalled',
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
  CredentialsRefused: ({ name }) => `the store does not accept the credentials (${name}): correct them in the Secret`,
  AccessDenied: () =>
    'the store accepts the credentials but denies the operation: allow them to list, read, write and delete objects',
  BucketNotFound: () => 'the bucket does not exist: create it, or correct its name in the Secret',
  ObjectNotFound: () => 'the object does not exist: it was deleted, or the bucket or prefix in the Secret is wrong',
  WrongRegion: (_, { region }) => `the bucket is not in region ${region}: correct the region in the Secret`,
  ClockSkewed: () => 'the clocks of the store and of the operator differ too much: synchronize both with NTP',
  CertificateNotTrusted: ({ name }) => `${certificateAdvice(name)} (${name})`,
  Unreachable: ({ name }) =>
    `the store cannot be reached (${name}): correct the host in the Secret, or allow connections from the operator to it`,
  ProxyRefused: () =>
    'the proxy of HTTPS_PROXY opens no connection to the store: allow it there, or name the host of the store in NO_PROXY',
  Stalled: () =>
    'the store accepted the connection but did not respond in time: check the store, and the network to it',
  AnswerTooLong: () =>
    'the answer does not end, unlike every answer of an S3 service: correct the host in the Secret, or check what answers there',
  StoreFull: ({ name }) => `the store is full (${name}): free space, raise the quota, or keep fewer backups`,
  Unavailable: ({ name, status }) =>
    `the store cannot serve the request now (${name}, HTTP ${status}): the operator tries again`,
  Failed: ({ name, status }) =>
    `the store answered ${name}${status > 0 ? `, HTTP ${status}` : ''}: check the logs of the store`,
};

function certificateAdvice(name: string): string {
  if (name === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return "the store's certificate is for another name: correct the host in the Secret, or the certificate";
  }
  if (name === 'CERT_HAS_EXPIRED') return "the store's certificate has expired: renew it";
  if (/^ERR_SSL|^EPROTO$/.test(name)) return 'the store does not use TLS: write http:// before the host in the Secret';
  return "the store's certificate is not signed by a trusted CA: put the right CA certificate into ca.crt of the Secret";
}
