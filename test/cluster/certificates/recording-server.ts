import { createServer, type Server } from 'node:https';
import type { TLSSocket } from 'node:tls';
import type { KeyPair } from '../../../reconciler/pki/issue.ts';
import { freePort } from '../../support/free-port.ts';

/** A server that the API server connects to, such as a kubelet: it records its clients. */
export class RecordingServer {
  readonly port: number;
  readonly #server: Server;
  /** PEM of the client certificate of the newest connection. */
  client: string | undefined;
  /** The number of requests. */
  requests = 0;

  private constructor(port: number, { certificate, key }: KeyPair) {
    this.port = port;
    this.#server = createServer({ cert: certificate, key, requestCert: true, rejectUnauthorized: false });
    this.#server.on('secureConnection', (socket: TLSSocket) => {
      this.client = socket.getPeerX509Certificate()?.toString();
    });
    this.#server.on('request', (_, response) => {
      this.requests += 1;
      response.setHeader('content-type', 'application/json').end('{}');
    });
    this.#server.on('upgrade', (_, socket) => socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n'));
  }

  static async start(pair: KeyPair): Promise<RecordingServer> {
    const server = new RecordingServer(await freePort(), pair);
    await new Promise<void>((resolve) => server.#server.listen(server.port, '127.0.0.1', resolve));
    return server;
  }

  /** Closes idle connections: the next request opens a new one. */
  closeConnections(): void {
    this.#server.closeAllConnections();
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
