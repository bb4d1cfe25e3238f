import { createServer, type Socket } from 'node:net';
import type { KeyPair } from '../../../../reconciler/pki/issue.ts';
import { type Answers, TLSServers } from './tls-servers.ts';

/** What serves at the addresses of one port of this machine. */
export interface AddressServerOptions extends Answers {
  readonly port: number;
  /** The certificate at an address, the same object until it is replaced; undefined where no server listens. */
  readonly certificateAt: (address: string) => KeyPair | undefined;
  /** Takes a connection to an address, of which nothing has been read, instead of this server. @returns whether it has */
  readonly divert?: (socket: Socket, address: string, pair: KeyPair) => boolean;
}

/** A server at all addresses of this machine, which presents another certificate at each: many servers in one process. */
export class AddressServer {
  readonly #connections = new Map<Socket, string>();

  constructor({ port, certificateAt, divert, ...answers }: AddressServerOptions) {
    const servers = new TLSServers(answers);
    const listener = createServer({ pauseOnConnect: divert !== undefined }, (socket: Socket) => {
      const address = socket.localAddress ?? '';
      const pair = certificateAt(address);
      if (!pair) return void socket.resetAndDestroy();
      if (divert?.(socket, address, pair)) return;
      this.#connections.set(socket, address);
      socket.once('close', () => this.#connections.delete(socket));
      servers.take(socket, pair);
    });
    listener.listen(port, '0.0.0.0');
  }

  /** Ends the connections to some addresses. */
  endConnections(isEnding: (address: string) => boolean): void {
    for (const [socket, address] of this.#connections) if (isEnding(address)) socket.resetAndDestroy();
  }
}
