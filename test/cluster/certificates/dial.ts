import { once } from 'node:events';
import { request } from 'node:https';
import { connect, type ConnectionOptions } from 'node:tls';
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

/**
 * Whether a gRPC server on this machine greets this client: it sends its settings once it has accepted the certificate. A session of
 * `node:http2` would not report the refusal, which TLS 1.3 sends after the handshake.
 */
export async function isGreeted(port: number, client?: KeyPair): Promise<boolean> {
  const socket = connect({ ...toLocal(port, client), ALPNProtocols: ['h2'] });
  try {
    await once(socket, 'data', { signal: AbortSignal.timeout(30_000) });
    return true;
  } catch (error) {
    if (error instanceof Error && error.name === 'AbortError') throw error;
    return false;
  } finally {
    socket.destroy();
  }
}

/** PEM of the certificate that a server on this machine presents; undefined while nothing listens. */
export async function shownCertificate(port: number, client?: KeyPair): Promise<string | undefined> {
  const socket = connect(toLocal(port, client));
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(30_000) });
    return socket.getPeerX509Certificate()?.toString();
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
}

function toLocal(port: number, client: KeyPair | undefined): ConnectionOptions {
  const certificate = client && { cert: client.certificate, key: client.key };
  return { host: '127.0.0.1', port, rejectUnauthorized: false, ...certificate };
}
