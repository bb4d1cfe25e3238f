import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/**
 * Acts as a Service for an API server: one address; a connection goes to one member and stays with it, and the next one
 * goes to a member that listens. Each has a preferred member, so that it is known which client depends on which member.
 */
export class MemberService {
  readonly address: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
    this.address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** @param members addresses, the preferred one first */
  static async start(members: readonly string[]): Promise<MemberService> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const service = new MemberService(server);
    server.on('connection', (socket) => service.#connect(socket, members));
    return service;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #connect(socket: Socket, [member, ...others]: readonly string[]): void {
    if (member === undefined) {
      socket.destroy();
      return;
    }
    const [host = '', port] = member.split(':');
    const upstream = connect(Number(port), host);
    const next = () => this.#connect(socket, others);
    upstream.once('error', next);
    upstream.once('connect', () => {
      upstream.off('error', next);
      for (const [one, other] of [
        [socket, upstream],
        [upstream, socket],
      ] as const) {
        this.#sockets.add(one);
        one
          .on('error', () => {})
          .on('close', () => {
            this.#sockets.delete(one);
            other.destroy();
          });
        one.pipe(other);
      }
    });
  }
}
