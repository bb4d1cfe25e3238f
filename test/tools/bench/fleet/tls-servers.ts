import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from 'node:http2';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { KeyPair } from '../../../../reconciler/pki/issue.ts';

/** What servers answer, by the address to which the client has connected. */
export interface Answers {
  /** Answers a request over HTTP/2. */
  readonly answer?: (request: Http2ServerRequest, response: Http2ServerResponse, address: string) => void;
  /** The answer to each request over HTTP/1.1, or what answers it. */
  readonly plainAnswer?: string | ((response: ServerResponse) => void);
}

/** Servers that listen nowhere: each takes connections with its certificate. */
export class TLSServers {
  readonly #answers: Answers;
  readonly #servers = new WeakMap<KeyPair, Http2SecureServer>();

  constructor(answers: Answers) {
    this.#answers = answers;
  }

  take(socket: Socket, pair: KeyPair): void {
    const server = this.#servers.get(pair) ?? this.#serverWith(pair);
    this.#servers.set(pair, server);
    server.emit('connection', socket);
    if (socket.isPaused()) socket.resume();
  }

  #serverWith({ certificate, key }: KeyPair): Http2SecureServer {
    const { answer, plainAnswer = '' } = this.#answers;
    const server = createSecureServer({ cert: certificate, key, allowHTTP1: true }, (request, response) => {
      response.on('error', () => {});
      if (request.httpVersionMajor > 1) answer?.(request, response, request.socket.localAddress ?? '');
      else if (typeof plainAnswer === 'string') response.end(plainAnswer);
      // The type knows answers over HTTP/2 only.
      else plainAnswer(response as unknown as ServerResponse);
    });
    server.on('tlsClientError', () => {});
    server.on('session', (session) => session.on('error', () => {}));
    return server;
  }
}
