import type { RequestOptions } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import type { Dispatcher } from 'undici';
import { openPool, openProxiedPool, whenAskedToLeave, whenNotConnected } from './connection-pool.ts';
import { messageOf } from './error-message.ts';
import { endStuckSessions } from './stuck-sessions.ts';
import { withoutTrailingSlashes } from './trailing-slashes.ts';
import { subscribe } from 'node:diagnostics_channel';
import { type ClientHttp2Stream, constants } from 'node:http2';

cancelGivenUpRequests();
endStuckSessions();

/** A connection to one API server: its address, the credentials, and the connection pool of all requests. */
export interface Connection {
  /** `https://host:port`, without a trailing slash. */
  readonly baseUrl: string;
  /** Namespace of the kubeconfig context, or of the pod. */
  readonly namespace: string | undefined;
  /** The pool for the next request. It changes with `renew`, and when the server asks to leave a connection. */
  dispatcher(): Dispatcher;
  /** Authentication headers. They are read for every request, because token files rotate. */
  authHeaders(): Promise<Record<string, string>>;
  /**
   * Retires the pool on which a request failed. The next request opens a new connection with the current certificates
   * and tokens. Other requests and watches on the old one continue, because one failure is no proof that it is dead. They end when
   * no new connection to the address can be opened.
   */
  renew(failed: Dispatcher): void;
  /** Ends all connections and every request on them. */
  close(): Promise<void>;
}

/** Input of `connectionFor`. */
export interface ConnectionTarget {
  /** `https://host:port`. The host may be an IP address while the certificate is valid for `serverName`. */
  readonly server: string;
  /** The name to verify and to send as SNI. By default the host. */
  readonly serverName?: string;
  /** Resolves the host name. By default with the resolver of the machine. */
  readonly lookup?: LookupFunction | undefined;
  /** CA certificates to trust, PEM. */
  readonly ca: string | Buffer;
  /** Client certificate, PEM. */
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  /** A bearer token, instead of a client certificate. */
  readonly token?: string;
}

/**
 * Reads a kubeconfig.
 * @param file its path; by default `KUBECONFIG`, then `~/.kube/config`, then the pod's service account
 * @throws when none of these exists, or one cannot be read
 */
export function loadKubeConfig(file?: string): KubeConfig {
  const config = new KubeConfig();
  const named = file ?? process.env['KUBECONFIG'];
  try {
    if (file) config.loadFromFile(file);
    else config.loadFromDefault();
  } catch (cause) {
    // Further lines of an error of the parser quote the file, which has credentials.
    const [why] = messageOf(cause).split('\n');
    throw new Error(`the kubeconfig${named ? ` ${named}` : ''} cannot be read: ${why}`, { cause });
  }
  // The library falls back to a plain-text API server on this machine, which is never intended.
  if (config.getCurrentCluster()?.server === 'http://localhost:8080') {
    throw new Error('no kubeconfig found: set KUBECONFIG, or run in a pod with a service account');
  }
  return config;
}

/** The connection of a kubeconfig's current context. Throws when the context does not name a cluster. */
export async function connect(config: KubeConfig): Promise<Connection> {
  const cluster = config.getCurrentCluster();
  if (!cluster)
    throw new Error(`kubeconfig context "${config.getCurrentContext()}" does not name a cluster: set current-context`);
  if (cluster.proxyUrl?.startsWith('socks'))
    throw new Error(`proxy ${cluster.proxyUrl} is not supported: use an HTTP proxy`);
  // The library reads files, runs exec plugins and refreshes OIDC tokens, each with its own cache.
  const readCredentials = async (): Promise<RequestOptions> => {
    const options: RequestOptions = {};
    await config.applyToHTTPSOptions(options);
    return options;
  };
  let credentials = await readCredentials();
  return open({
    server: cluster.server,
    namespace: config.getContextObject(config.getCurrentContext())?.namespace,
    proxyUrl: cluster.proxyUrl,
    tls: () => tlsOf(credentials),
    authHeaders: async () => {
      credentials = await readCredentials();
      return headersOf(credentials);
    },
  });
}

/** A connection with the given credentials, such as a client certificate. */
export function connectionFor(target: ConnectionTarget): Connection {
  const headers: Record<string, string> = target.token ? { authorization: `Bearer ${target.token}` } : {};
  const { server, serverName: servername, ca, cert, key, lookup } = target;
  // Trust the CA itself, not the issuer that signed it. OpenSSL requires this option for that.
  const tls = withoutUndefined({ ca, cert, key, servername, allowPartialTrustChain: true });
  return open({ server, lookup, tls: () => tls, authHeaders: () => Promise.resolve(headers) });
}

type TlsMaterial = Pick<
  ConnectionOptions,
  'ca' | 'cert' | 'key' | 'pfx' | 'passphrase' | 'servername' | 'rejectUnauthorized' | 'allowPartialTrustChain'
>;

interface Source {
  readonly server: string;
  readonly namespace?: string | undefined;
  readonly proxyUrl?: string | undefined;
  readonly lookup?: LookupFunction | undefined;
  readonly tls: () => TlsMaterial;
  readonly authHeaders: () => Promise<Record<string, string>>;
}

/** Time in which requests that have chosen a pool before it was retired begin on it. */
const graceMs = 10_000;

/** No watch lasts longer. It ends also what undici has forgotten. */
const longestRetirementMs = 35 * 60_000;

function open(source: Source): Connection {
  const retired = new Set<Dispatcher>();
  const renew = (old: Dispatcher): void => {
    // Many requests fail together on one dead connection, and only the first replaces it.
    if (old !== dispatcher) return;
    dispatcher = replaceable();
    retired.add(old);
    void retire(old, source).then(() => retired.delete(old));
  };
  const replaceable = (): Dispatcher => {
    const pool = dial(source);
    whenAskedToLeave(pool, () => renew(pool));
    // Another process is behind the address, or none: what those before it have accepted never gets an answer.
    whenNotConnected(pool, () => {
      for (const old of retired) void old.destroy();
    });
    return pool;
  };
  let dispatcher = replaceable();
  return {
    baseUrl: withoutTrailingSlashes(source.server),
    namespace: source.namespace,
    dispatcher: () => dispatcher,
    authHeaders: source.authHeaders,
    renew,
    close: async () => {
      await Promise.all([dispatcher, ...retired].map((pool) => pool.destroy()));
    },
  };
}

/** Resolves when the pool has no connection any more: its requests and watches have ended. */
async function retire(pool: Dispatcher, { proxyUrl }: Source): Promise<void> {
  await new Promise<void>((resolve) => setTimeout(resolve, graceMs).unref());
  // No ping shows whether the server behind a proxy is alive. Watches reconnect without losing events.
  if (proxyUrl) return pool.destroy();
  const end = setTimeout(() => void pool.destroy(), longestRetirementMs).unref();
  await pool.close().catch(() => {});
  clearTimeout(end);
}

function dial(source: Source): Dispatcher {
  const tls = source.tls();
  if (source.proxyUrl) return openProxiedPool(source.proxyUrl, tls);
  return openPool(source.server, { ...tls, ...(source.lookup && { lookup: source.lookup }) });
}

function tlsOf(options: RequestOptions): TlsMaterial {
  const { ca, cert, key, pfx, passphrase, servername, rejectUnauthorized } = options;
  return withoutUndefined({ ca, cert, key, pfx, passphrase, servername, rejectUnauthorized });
}

function headersOf(options: RequestOptions): Record<string, string> {
  const headers: Record<string, string> = {};
  // A token file usually ends with a newline, which headers must not contain.
  for (const [name, value] of Object.entries(options.headers ?? {})) headers[name] = String(value).trim();
  if (options.auth) headers['authorization'] = `Basic ${Buffer.from(options.auth).toString('base64')}`;
  return headers;
}

/**
 * Only the given options: an explicit undefined would override a default of Node's TLS, such as the verification of the
 * server.
 */
function withoutUndefined(options: TlsMaterial): TlsMaterial {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

/**
 * Cancels every aborted HTTP/2 request immediately. undici closes and destroys the stream of such a request without an
 * error code. Node then waits until the body is sent, which never happens, and the server is never notified. Once the
 * server grants more window for the body, Node fills all memory with empty frames and does nothing else. With an error
 * code it does not wait. Remove this when undici sets a code.
 */
function cancelGivenUpRequests(): void {
  subscribe('http2.client.stream.created', (message) => {
    const { stream } = message as { readonly stream: ClientHttp2Stream };
    const close = stream.close.bind(stream);
    stream.close = (code = constants.NGHTTP2_CANCEL, callback) => close(code, callback);
  });
}
