import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { buildConnector, type Dispatcher, Pool } from 'undici';

/** Interval of HTTP/2 pings. Every answer to one is a sign of life. */
const pingMs = 15_000;
/** A connection that has not received a byte during so many pings is dead. */
const missedPings = 3;
/** How long requests on a retired pool may continue if its connections cannot be pinged. Watches resume elsewhere. */
const unpingedMs = 10_000;

/**
 * Connections to one server. All requests and watches share one HTTP/2 connection if the server offers it. A connection
 * that is silent for 45 s is closed, which ends its requests: otherwise the kernel would notice after 15 minutes.
 */
export class ConnectionPool {
  readonly dispatcher: Dispatcher;
  readonly #isPinged: () => boolean;
  #cancel: () => void = () => {};

  /** @param isPinged whether silence ends each of its connections */
  constructor(dispatcher: Dispatcher, isPinged: () => boolean) {
    this.dispatcher = dispatcher;
    this.#isPinged = isPinged;
  }

  /** A pool that connects with the first request. @param server its URL */
  static direct(server: string, options: buildConnector.BuildOptions): ConnectionPool {
    const connector = buildConnector({ ...options, preferH2: true, keepAliveInitialDelay: 30_000, timeout: 5_000 });
    let isPinged = true;
    const connect: buildConnector.connector = (to, callback) =>
      connector(to, (...[error, socket]) => {
        if (error) return callback(error, null);
        if (isHttp2(socket)) endWhenSilent(socket);
        else isPinged = false;
        callback(null, socket);
      });
    const { origin } = new URL(server);
    // Not an Agent, which forgets its connections when it is closed, and could not end them any more.
    const pool = new Pool(origin, { connect, keepAliveTimeout: 60_000, h2Options: { pingInterval: pingMs } });
    return new ConnectionPool(pool, () => isPinged);
  }

  /**
   * Takes no more requests, and resolves when all connections are closed. Watches on connections that are pinged
   * continue: one slow request is no proof that the connection is dead.
   */
  async retire(): Promise<void> {
    if (this.#isPinged()) return this.dispatcher.close().catch(() => {});
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => resolve(this.end()), unpingedMs);
      this.#cancel = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Ends every request and all connections. */
  async end(): Promise<void> {
    this.#cancel();
    await this.dispatcher.destroy();
  }
}

function isHttp2(socket: Socket | TLSSocket): boolean {
  return 'alpnProtocol' in socket && socket.alpnProtocol === 'h2';
}

function endWhenSilent(socket: Socket): void {
  let [received, missed] = [socket.bytesRead, 0];
  const timer = setInterval(() => {
    missed = socket.bytesRead === received ? missed + 1 : 0;
    received = socket.bytesRead;
    if (missed < missedPings) return;
    socket.destroy(new Error(`the connection was silent for ${(missedPings * pingMs) / 1000} s`));
  }, pingMs).unref();
  socket.once('close', () => clearInterval(timer));
}
