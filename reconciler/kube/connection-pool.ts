import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { buildConnector, type Dispatcher, Pool } from 'undici';

/** Interval of HTTP/2 pings. Every answer to one is a sign of life. */
const pingMs = 15_000;

/** A connection that receives no byte in so many intervals is dead: it ends at most 45 s after its last byte. */
const silentIntervals = 2;

/**
 * Connections to one server, opened by the first request. All requests and watches share one HTTP/2 connection if the
 * server offers it. One on which nothing arrives for 45 s at most is closed, and its requests fail: TCP repeats an
 * unanswered ping for 15 minutes. Other connections carry one request each, and TCP's own keep-alive ends them.
 * @param server its URL
 */
export function openPool(server: string, options: buildConnector.BuildOptions): Dispatcher {
  const connector = buildConnector({ ...options, preferH2: true, keepAliveInitialDelay: 30_000, timeout: 5_000 });
  const connect: buildConnector.connector = (to, callback) =>
    connector(to, (...[error, socket]) => {
      if (error) return callback(error, null);
      if (isHttp2(socket)) endWhenSilent(socket);
      callback(null, socket);
    });
  // Not an Agent: one that is closed forgets connections in use, and cannot end them any more.
  return new Pool(new URL(server).origin, { connect, keepAliveTimeout: 60_000, h2Options: { pingInterval: pingMs } });
}

function isHttp2(socket: Socket | TLSSocket): boolean {
  return 'alpnProtocol' in socket && socket.alpnProtocol === 'h2';
}

/** undici sends pings, and never misses their answers. */
function endWhenSilent(socket: Socket): void {
  let received = socket.bytesRead;
  let silent = 0;
  const timer = setInterval(() => {
    silent = socket.bytesRead === received ? silent + 1 : 0;
    received = socket.bytesRead;
    if (silent < silentIntervals) return;
    socket.destroy(new Error('the connection is dead: no ping on it was answered for 30 s'));
  }, pingMs).unref();
  socket.once('close', () => clearInterval(timer));
}
