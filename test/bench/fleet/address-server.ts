import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from 'node:http2';
import { createServer, type Socket } from 'node:net';
import type { KeyPair } from '../../../reconciler/pki/issue.ts';

/** What serves at the addresses of one port of this machine. */
export interface AddressServerOptions {
  readonly port: number;
  /** The certificate at an address, the same object until it is replaced; undefined where no server listens. */
  readonly certificateAt: (address: string) => KeyPair | undefined;
  /** Answers a request over HTTP/2. */
  readonly answer?: (request: Http2ServerRequest, response: Http2ServerResponse, address: string) => void;
  /** The answer to each request over HTTP/1.1. */
  readonly plainAnswer?: string;
}

/** A server at all addresses of this machine, which presents another certificate at each: many servers in one process. */
export function serveAddresses({ port, certificateAt, answer, plainAnswer }: AddressServerOptions): void {
  const servers = new WeakMap<KeyPair, Http2SecureServer>();

  function serverWith({ certificate, key }: KeyPair): Http2SecureServer {
    const server = createSecureServer({ cert: certificate, key, allowHTTP1: true }, (request, response) => {
      response.on('error', () => {});
      if (request.httpVersionMajor === 1) response.end(plainAnswer ?? '');
      else answer?.(request, response, request.socket.localAddress ?? '');
    });
    server.on('tlsClientError', () => {});
    server.on('session', (session) => session.on('error', () => {}));
    return server;
  }

  const listener = createServer((socket: Socket) => {
    const pair = certificateAt(socket.localAddress ?? '');
    if (!pair) return void socket.resetAndDestroy();
    const server = servers.get(pair) ?? serverWith(pair);
    servers.set(pair, server);
    server.emit('connection', socket);
  });
  listener.listen(port, '0.0.0.0');
}
