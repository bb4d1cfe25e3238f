import type { RequestOptions } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { KubeConfig } from '@kubernetes/client-node';
import { Agent, ProxyAgent, type Dispatcher } from 'undici';
import { cancelGivenUpRequests } from './cancelled-streams.ts';

cancelGivenUpRequests();

/** A way to one API server: where it is, who we are, and the pool of connections every request shares. */
export interface Connection {
  /** `https://host:port`, without a trailing slash. */
  readonly baseUrl: string;
  /** Namespace of the kubeconfig context, or our own when running in a pod. */
  readonly namespace: string | undefined;
  /** The pool to use for the next request; it changes with `renew`. */
  dispatcher(): Dispatcher;
  /** Headers that say who we are. Token files rotate, so they are asked for with every request. */
  authHeaders(): Promise<Record<string, string>>;
  /** Retires the pool that failed: the next request dials anew with freshly read certificates and tokens. */
  renew(failed: Dispatcher): void;
  /** Ends all connections and every request on them. */
  close(): Promise<void>;
}

/** What `connectionFor` needs to reach a hosted cluster. */
export interface ConnectionTarget {
  /** `https://host:port`; the host may be an IP address while the certificate is for `serverName`. */
  readonly server: string;
  /** The name to verify and to send as SNI. By default the dialled host. */
  readonly serverName?: string;
  /** Resolves the host, where the machine's resolver does not know it. By default that one. */
  readonly lookup?: LookupFunction | undefined;
  /** Certificate authorities to trust, PEM. */
  readonly ca: string | Buffer;
  /** Our client certificate, PEM. */
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  /** A bearer token, instead of a client certificate. */
  readonly token?: string;
}

/**
 * Reads a kubeconfig.
 * @param file path of it; by default `KUBECONFIG`, then `~/.kube/config`, then the pod's service account
 * @throws when there is none of these
 */
export function loadKubeConfig(file?: string): KubeConfig {
  const config = new KubeConfig();
  if (file) config.loadFromFile(file);
  else config.loadFromDefault();
  // The library's last resort, a plain-text API server on this machine, is nobody's wish.
  if (config.getCurrentCluster()?.server === 'http://localhost:8080') {
    throw new Error('no kubeconfig found: set KUBECONFIG, or run in a pod with a service account');
  }
  return config;
}

/** The connection of a kubeconfig's current context. Throws when that context names no cluster. */
export async function connect(config: KubeConfig): Promise<Connection> {
  const cluster = config.getCurrentCluster();
  if (!cluster)
    throw new Error(`kubeconfig context "${config.getCurrentContext()}" names no cluster: set current-context`);
  if (cluster.proxyUrl?.startsWith('socks'))
    throw new Error(`proxy ${cluster.proxyUrl} is not supported: use an HTTP proxy`);
  // The library reads files, runs exec plugins and refreshes OIDC tokens here, each with its own cache.
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

/** A connection from given credentials, such as our own to a hosted cluster. */
export function connectionFor(target: ConnectionTarget): Connection {
  const headers: Record<string, string> = target.token ? { authorization: `Bearer ${target.token}` } : {};
  const { server, serverName: servername, ca, cert, key, lookup } = target;
  // An authority that an issuer has signed is trusted by itself, not its issuer; OpenSSL has to be told.
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

/** How long requests on a pool that has failed one of them may go on; a watch is opened anew and loses nothing. */
const retirementMs = 10_000;

function open(source: Source): Connection {
  const retired = new Map<Dispatcher, NodeJS.Timeout>();
  let dispatcher = dial(source);
  return {
    baseUrl: source.server.replace(/\/+$/, ''),
    namespace: source.namespace,
    dispatcher: () => dispatcher,
    authHeaders: source.authHeaders,
    renew: (failed) => {
      // Many requests fail together on one dead connection; only the first of them replaces it.
      if (failed !== dispatcher) return;
      dispatcher = dial(source);
      // What is still alive on the old pool may finish, but not a watch on a connection that is dead and does not say so.
      retired.set(
        failed,
        setTimeout(() => {
          retired.delete(failed);
          void failed.destroy();
        }, retirementMs),
      );
    },
    close: async () => {
      for (const end of retired.values()) clearTimeout(end);
      await Promise.all([dispatcher, ...retired.keys()].map((pool) => pool.destroy()));
    },
  };
}

/** One pool. All requests and watches share a single HTTP/2 connection as long as the server offers it. */
function dial(source: Source): Dispatcher {
  const tls = source.tls();
  if (source.proxyUrl) return new ProxyAgent({ uri: source.proxyUrl, requestTls: tls });
  return new Agent({
    connect: { ...tls, ...(source.lookup && { lookup: source.lookup }), preferH2: true, keepAliveInitialDelay: 30_000 },
    connectTimeout: 5_000,
    keepAliveTimeout: 60_000,
    h2Options: { pingInterval: 15_000 },
  });
}

function tlsOf(options: RequestOptions): TlsMaterial {
  const { ca, cert, key, pfx, passphrase, servername, rejectUnauthorized } = options;
  return withoutUndefined({ ca, cert, key, pfx, passphrase, servername, rejectUnauthorized });
}

function headersOf(options: RequestOptions): Record<string, string> {
  const headers: Record<string, string> = {};
  // A token file usually ends with a newline, which no header may contain.
  for (const [name, value] of Object.entries(options.headers ?? {})) headers[name] = String(value).trim();
  if (options.auth) headers['authorization'] = `Basic ${Buffer.from(options.auth).toString('base64')}`;
  return headers;
}

/** Only what is given: an explicit undefined would override a default of Node's TLS, such as verifying the server. */
function withoutUndefined(options: TlsMaterial): TlsMaterial {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
