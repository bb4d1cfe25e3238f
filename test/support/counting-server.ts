import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';

/** A server on this machine that answers nothing, and counts who connects. */
export class CountingServer {
  readonly #server: Server;
  connections = 0;

  private constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket) => {
      this.connections += 1;
      socket.destroy();
    });
  }

  static async start(): Promise<CountingServer> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new CountingServer(server);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    this.#server.close();
    await once(this.#server, 'close');
  }
}
