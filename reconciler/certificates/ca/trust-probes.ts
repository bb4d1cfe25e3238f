import type { X509Certificate } from 'node:crypto';
import { request, type RequestOptions } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { connect, type ConnectionOptions } from 'node:tls';
import { definedOnly } from '../../../constructs/cluster/defined-only.ts';
import type { Destinations } from '../../clusters/network/destinations.ts';
import type { KeyPair } from '../../pki/issue.ts';

/** A server, mostly of one pod: its address or host name, the name in its certificate, and PEM of the CA to trust. */
export interface ProbedServer {
  readonly host: string;
  readonly port: number;
  readonly serverName: string;
  readonly ca: string;
}

/**
 * Queries to servers of single pods, with which a rotation finds out which CAs they trust and which certificates they
 * present.
 */
export interface TrustProbes {
  /**
   * The user name that an API server derives from a client certificate; undefined if it refuses the certificate.
   * @param asUser the user that the client claims to impersonate
   * @throws if it does not answer
   */
  userOf(server: ProbedServer, client: KeyPair, asUser?: string): Promise<string | undefined>;
  /** Whether etcd answers this client. @throws if it does not answer any client */
  isAdmitted(server: ProbedServer, client: KeyPair): Promise<boolean>;
  /**
   * PEM of the certificate that a server presents, after verification. @throws if it does not answer, or the
   * certificate is invalid
   */
  servedBy(server: ProbedServer, client?: KeyPair): Promise<string>;
}

/** A server in the same network answers immediately, or is being replaced. */
const deadlineMs = 5_000;

/**
 * Queries the servers, each time with a new connection, because a server evaluates its trust when a connection begins.
 */
export const dialledProbes: TrustProbes = {
  async userOf(server, client, asUser) {
    const headers = { 'content-type': 'application/json', ...(asUser ? { 'x-remote-user': asUser } : {}) };
    const { status, text } = await ask(server, client, {
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      headers,
      body: JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }),
    });
    if (status === 401) return undefined;
    if (status !== 201) throw new Error(`${server.host} answers a SelfSubjectReview with status ${status}`);
    return userIn(text);
  },
  async isAdmitted(server, client) {
    try {
      return (await ask(server, client, { method: 'GET', path: '/version', headers: {} })).status === 200;
    } catch (error) {
      if (isRefusal(error)) return false;
      throw error;
    }
  },
  servedBy: (server, client) => served(server, client, undefined),
};

/** {@link dialledProbes} that connect to host names of a spec only where they may; anywhere when undefined. */
export function probesWith(destinations: Destinations | undefined): TrustProbes {
  return {
    ...dialledProbes,
    async servedBy(server, client) {
      // Servers of the control plane itself are asked at the addresses of their pods and Services.
      const guard = isIP(server.host) === 0 ? destinations?.guard('endpoint') : undefined;
      try {
        return await served(server, client, guard?.lookup(server.port));
      } catch (error) {
        throw guard ? guard.reportable(error) : error;
      }
    },
  };
}

function served(server: ProbedServer, client?: KeyPair, lookup?: LookupFunction): Promise<string> {
  const { host, port } = server;
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, ...tlsOf(server, client), ...definedOnly({ lookup }), timeout: deadlineMs });
    const fail = (error: Error) => {
      socket.destroy();
      reject(error);
    };
    socket.on('secureConnect', () => {
      const certificate: X509Certificate | undefined = socket.getPeerX509Certificate();
      socket.end();
      if (certificate) resolve(certificate.toString());
      else fail(new Error(`${host} presents no certificate`));
    });
    socket.on('timeout', () => fail(new Error(`${host} does not answer within ${deadlineMs / 1000} s`)));
    socket.on('error', fail);
  });
}

interface Question {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

function ask(
  server: ProbedServer,
  client: KeyPair,
  { body, ...question }: Question,
): Promise<{ readonly status: number; readonly text: string }> {
  const { host, port } = server;
  const options: RequestOptions = {
    ...question,
    ...tlsOf(server, client),
    host,
    port,
    agent: false,
    signal: AbortSignal.timeout(deadlineMs),
  };
  return new Promise((resolve, reject) => {
    const asked = request(options, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }));
      answer.on('error', reject);
    });
    asked.on('error', reject);
    asked.end(body);
  });
}

function tlsOf({ ca, serverName }: ProbedServer, client: KeyPair | undefined): ConnectionOptions {
  const pair = client ? { cert: client.certificate, key: client.key } : {};
  // A CA certificate that an issuer has signed is trusted without the issuer's certificate.
  return { ca, servername: serverName, allowPartialTrustChain: true, ...pair };
}

/** How a TLS server refuses a client certificate: with an alert, which comes after the handshake in TLS 1.3. */
function isRefusal(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return code === 'ECONNRESET' || code.includes('ALERT');
}

function userIn(text: string): string | undefined {
  const review: unknown = JSON.parse(text);
  const isReview = (value: unknown): value is { status?: { userInfo?: { username?: string } } } =>
    typeof value === 'object' && value !== null;
  return isReview(review) ? review.status?.userInfo?.username : undefined;
}
