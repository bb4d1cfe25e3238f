import type { X509Certificate } from 'node:crypto';
import { request, type RequestOptions } from 'node:https';
import { connect, type ConnectionOptions } from 'node:tls';
import type { KeyPair } from '../../pki/issue.ts';

/** A server of one pod: where it is, whose name its certificate is for, and PEM of whom to trust. */
export interface ProbedServer {
  readonly host: string;
  readonly port: number;
  readonly serverName: string;
  readonly ca: string;
}

/** Questions to servers of single pods, by which a rotation finds out whom they trust and what they present. */
export interface TrustProbes {
  /**
   * Name of the user that an API server takes a client for; undefined when it lets nobody in with this certificate.
   * @param asUser whom the client claims to speak for
   * @throws when it does not answer
   */
  userOf(server: ProbedServer, client: KeyPair, asUser?: string): Promise<string | undefined>;
  /** Whether etcd answers this client. @throws when it does not answer anybody */
  isAdmitted(server: ProbedServer, client: KeyPair): Promise<boolean>;
  /** PEM of the certificate that a server shows, which is verified. @throws when it does not answer, or it is not valid */
  servedBy(server: ProbedServer, client?: KeyPair): Promise<string>;
}

/** A server in the same network answers at once, or it is being replaced. */
const deadlineMs = 5_000;

/** Asks the servers themselves, each time on a connection of its own: what it trusts is looked at when one begins. */
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
    if (status !== 201) throw new Error(`${server.host} answers who a client is with status ${status}`);
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
  servedBy: (server, client) =>
    new Promise((resolve, reject) => {
      const socket = connect({ host: server.host, port: server.port, ...tlsOf(server, client), timeout: deadlineMs });
      const fail = (error: Error) => {
        socket.destroy();
        reject(error);
      };
      socket.on('secureConnect', () => {
        const certificate: X509Certificate | undefined = socket.getPeerX509Certificate();
        socket.end();
        if (certificate) resolve(certificate.toString());
        else fail(new Error(`${server.host} shows no certificate`));
      });
      socket.on('timeout', () => fail(new Error(`${server.host} does not answer within ${deadlineMs / 1000} s`)));
      socket.on('error', fail);
    }),
};

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
  // An authority that an issuer has signed is trusted by itself.
  return { ca, servername: serverName, allowPartialTrustChain: true, ...pair };
}

/** What a TLS server says to a client whose certificate it does not accept: after the handshake of TLS 1.3, by an alert. */
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
