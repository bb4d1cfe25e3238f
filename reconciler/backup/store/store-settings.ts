import { X509Certificate } from 'node:crypto';
import type { ProxyEnvironment } from './proxy.ts';
import { withoutTrailingSlashes } from '../../kube/trailing-slashes.ts';

/** How requests to a store are signed. */
export type StoreCredentials =
  | { readonly kind: 'static'; readonly accessKeyId: string; readonly secretAccessKey: string }
  | {
      readonly kind: 'webIdentity';
      readonly roleArn: string;
      /** URL of the token service; that of AWS in the region if unset. */
      readonly tokenService?: string | undefined;
      /** A new token of the ServiceAccount that may assume the role. */
      readonly token: () => Promise<string>;
    };

/** An S3-compatible bucket, with the settings for access to it. */
export interface StoreSettings {
  /** URL of the service; AWS if unset. */
  readonly endpoint?: string | undefined;
  readonly region: string;
  readonly bucket: string;
  /** Folder for all objects of the operator in the bucket, without surrounding slashes; empty for none. */
  readonly prefix: string;
  /** PEM of the CA certificates to trust, instead of the public ones. */
  readonly certificateAuthority?: string | undefined;
  readonly credentials: StoreCredentials;
  /** What names the proxies. By default the variables of this process. */
  readonly environment?: ProxyEnvironment | undefined;
}

/** Keys of the settings in the Secret. */
interface StoreSecretKeys {
  readonly accessKeyIDKey: string;
  readonly secretAccessKeyKey: string;
  readonly hostKey: string;
  readonly regionKey: string;
  readonly bucketKey: string;
  readonly certificateAuthorityKey: string;
}

/**
 * Reads the settings from the data of a Secret, in base64 as the API returns it. Throws a sentence for the user that
 * lists all missing keys at once, without values.
 * @param webIdentity signs requests instead of keys in the Secret, which then needs none
 */
export function readStoreSettings(
  data: Readonly<Record<string, string>>,
  keys: StoreSecretKeys,
  webIdentity?: StoreCredentials,
): StoreSettings {
  // A value created with echo ends with a newline, which would break signatures.
  const value = (key: string): string =>
    Buffer.from(data[key] ?? '', 'base64')
      .toString('utf8')
      .trim();
  const ofCredentials = webIdentity ? [] : [keys.accessKeyIDKey, keys.secretAccessKeyKey];
  const missing = [...ofCredentials, keys.regionKey, keys.bucketKey].filter((key) => value(key) === '');
  if (missing.length > 0)
    throw new Error(`the Secret has no ${missing.join(', ')}: add ${missing.length > 1 ? 'them' : 'it'}`);
  return {
    endpoint: endpointOf(value(keys.hostKey), keys.hostKey),
    region: regionOf(value(keys.regionKey), keys.regionKey),
    ...bucketAndPrefix(value(keys.bucketKey), keys.bucketKey),
    certificateAuthority: caOf(value(keys.certificateAuthorityKey), keys.certificateAuthorityKey),
    credentials: webIdentity ?? {
      kind: 'static',
      accessKeyId: value(keys.accessKeyIDKey),
      secretAccessKey: value(keys.secretAccessKeyKey),
    },
  };
}

/** A region is a part of the host names of AWS: any other text could make another host of them. */
function regionOf(region: string, key: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(region)) return region;
  throw new Error(
    `${key} of the Secret is not a region, which has letters, digits, dashes and underscores: correct it`,
  );
}

/** Checked here, because connections with an invalid certificate fail with a misleading error. */
function caOf(pem: string, key: string): string | undefined {
  if (pem === '') return undefined;
  try {
    void new X509Certificate(pem);
    return pem;
  } catch {
    throw new Error(`${key} of the Secret is not a certificate in PEM: put the CA certificate of the service there`);
  }
}

/** The URL of `host[:port]`, with TLS unless it begins with `http://`; undefined for AWS. */
function endpointOf(host: string, key: string): string | undefined {
  if (host === '') return undefined;
  const text = /^https?:\/\//.test(host) ? host : `https://${host}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && url.username === '' && url.pathname === '/' && url.search === '' && url.hash === '') return url.origin;
  throw new Error(
    `${key} of the Secret is not host[:port] or a URL of only that, such as s3.example.com:9000: correct it`,
  );
}

/** Splits `bucket/some/prefix`. */
function bucketAndPrefix(text: string, key: string): Pick<StoreSettings, 'bucket' | 'prefix'> {
  const [bucket = '', ...segments] = withoutTrailingSlashes(text).split('/');
  // Some stores convert these to another key than the one that is listed.
  if (bucket !== '' && segments.every((segment) => !['', '.', '..'].includes(segment))) {
    return { bucket, prefix: segments.join('/') };
  }
  throw new Error(`${key} of the Secret is not bucket or bucket/prefix: write it without empty parts, "." and ".."`);
}
