import { once } from 'node:events';
import { connect as openSession } from 'node:http2';
import { request } from 'node:https';
import { connect } from 'node:tls';
import type { KeyPair } from '../../../reconciler/pki/issue.ts';

/** The answer to a request over TLS; `status` 0 if the server rejected the client's certificate. */
export interface Answer {
  readonly status: number;
  readonly text: string;
}

export interface Question {
  readonly port: number;
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly client?: KeyPair | undefined;
}

/** Sends a request to a server on this machine on its own connection. The server is not verified: only the client matters. */
export function ask({ port, path, method = 'GET', headers = {}, body, client }: Question): Promise<Answer> {
  const text = body ? JSON.stringify(body) : undefined;
  return new Promise((resolve) => {
    const asked = request({
      host: '127.0.0.1',
      port,
      path,
      method,
      headers: { ...(text && { 'content-type': 'application/json' }), ...headers },
      agent: false,
      rejectUnauthorized: false,
      signal: AbortSignal.timeout(30_000),
      ...(client && { cert: client.certificate, key: client.key }),
    });
    asked.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
      response.on('error', (error) => resolve({ status: 0, text: String(error) }));
    });
    asked.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve({ status: response.statusCode ?? 0, text: '' });
    });
    asked.on('error', (error) => resolve({ status: 0, text: String(error) }));
    asked.end(text);
  });
}

/** Whether a gRPC server on this machine sends its settings to this client, which it does once it has accepted the certificate. */
export function isGreeted(port: number, client?: KeyPair): Promise<boolean> {
  const session = openSession(`https://127.0.0.1:${port}`, {
    rejectUnauthorized: false,
    ...(client && { cert: client.certificate, key: client.key }),
  });
  return new Promise<boolean>((resolve, reject) => {
    session.setTimeout(30_000, () => reject(new Error(`port ${port} neither greets nor refuses within 30 s`)));
    session.once('remoteSettings', () => resolve(true));
    session.once('close', () => resolve(false));
    // the reason why it closes
    session.once('error', () => resolve(false));
  }).finally(() => session.destroy());
}

/** PEM of the certificate that a server on this machine presents; undefined while nothing listens. */
export async function shownCertificate(port: number, client?: KeyPair): Promise<string | undefined> {
  const socket = connect({
    host: '127.0.0.1',
    port,
    rejectUnauthorized: false,
    ...(client && { cert: client.certificate, key: client.key }),
  });
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(30_000) });
    return socket.getPeerX509Certificate()?.toString();
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
}
