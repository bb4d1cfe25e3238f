import { X509Certificate } from 'node:crypto';

/** How requests to a store are signed. */
export type StoreCredentials =
  | { readonly kind: 'static'; readonly accessKeyId: string; readonly secretAccessKey: string }
  | {
      readonly kind: 'web-identity';
      readonly roleArn: string;
      /** URL of the token service; the one of AWS in the region when unset. */
      readonly tokenService?: string | undefined;
      /** A fresh token of the ServiceAccount that may assume the role. */
      readonly token: () => Promise<string>;
    };

/** An S3-compatible bucket and what is needed to use it. */
export interface StoreSettings {
  /** URL of the service; AWS when unset. */
  readonly endpoint?: string | undefined;
  readonly region: string;
  readonly bucket: string;
  /** Folder for everything of ours in the bucket, without slashes around it; empty for none. */
  readonly prefix: string;
  /** Certificates in PEM that the service is trusted by, instead of the well-known ones. */
  readonly certificateAuthority?: string | undefined;
  readonly credentials: StoreCredentials;
}

/** Keys of the Secret in which the settings are. */
export interface StoreSecretKeys {
  readonly accessKeyIDKey: string;
  readonly secretAccessKeyKey: string;
  readonly hostKey: string;
  readonly regionKey: string;
  readonly bucketKey: string;
  readonly certificateAuthorityKey: string;
}

/**
 * Reads the settings from the data of a Secret, base64 as the API gives it. Throws a sentence for the user that names all
 * missing keys at once and quotes no value.
 * @param webIdentity signs requests instead of keys in the Secret, which then needs none
 */
export function readStoreSettings(
  data: Readonly<Record<string, string>>,
  keys: StoreSecretKeys,
  webIdentity?: StoreCredentials,
): StoreSettings {
  // a value made with echo ends in a newline, which would break signatures
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
    region: value(keys.regionKey),
    ...bucketAndPrefix(value(keys.bucketKey), keys.bucketKey),
    certificateAuthority: caOf(value(keys.certificateAuthorityKey), keys.certificateAuthorityKey),
    credentials: webIdentity ?? {
      kind: 'static',
      accessKeyId: value(keys.accessKeyIDKey),
      secretAccessKey: value(keys.secretAccessKeyKey),
    },
  };
}

/** Checked here: a connection made with what is no certificate fails with words that lead nowhere. */
function caOf(pem: string, key: string): string | undefined {
  if (pem === '') return undefined;
  try {
    void new X509Certificate(pem);
    return pem;
  } catch {
    throw new Error(`${key} of the Secret is no certificate in PEM: put the authority of the service there`);
  }
}

/** The URL of `host[:port]`, by TLS unless `http://` stands before it; nothing for AWS. */
function endpointOf(host: string, key: string): string | undefined {
  if (host === '') return undefined;
  const text = /^https?:\/\//.test(host) ? host : `https://${host}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && url.username === '' && url.pathname === '/' && url.search === '' && url.hash === '') return url.origin;
  throw new Error(
    `${key} of the Secret is not host[:port] or a URL of only that, such as s3.example.com:9000: correct it`,
  );
}

/** Divides `bucket/some/prefix`. */
export function bucketAndPrefix(text: string, key: string): Pick<StoreSettings, 'bucket' | 'prefix'> {
  const [bucket = '', ...segments] = text.replace(/\/+$/, '').split('/');
  // what some stores make of these is another key than the one we list by
  if (bucket !== '' && segments.every((segment) => !['', '.', '..'].includes(segment))) {
    return { bucket, prefix: segments.join('/') };
  }
  throw new Error(`${key} of the Secret is not bucket or bucket/prefix: write it without empty parts, "." and ".."`);
}
