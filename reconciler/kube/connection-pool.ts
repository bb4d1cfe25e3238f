import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { buildConnector, type Dispatcher, Pool, ProxyAgent } from 'undici';

/** Interval of HTTP/2 pings. Every answer to one is a sign of life. */
const pingMs = 15_000;

/** A connection that answers nothing in so many intervals is dead: it ends at most 45 s after its last byte. */
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
  const pool = new Pool(new URL(server).origin, {
    connect,
    keepAliveTimeout: 60_000,
    h2Options: { pingInterval: pingMs },
  });
  // Each request that waits for its answer listens.
  return pool.setMaxListeners(0);
}

/**
 * Connections through an HTTP proxy.
 * @param uri the proxy
 * @param requestTls for the server behind it
 */
export function openProxiedPool(uri: string, requestTls: buildConnector.BuildOptions): Dispatcher {
  const factory = (origin: URL, options: object): Dispatcher =>
    // Only this pool announces what the server asks for.
    new Pool(origin, options).on('disconnect', (...event) => agent.emit('disconnect', ...event));
  const agent = new ProxyAgent({ uri, requestTls, factory });
  return agent.setMaxListeners(0);
}

/**
 * Calls back when the server asks its client to leave a connection of the pool (GOAWAY). API servers do so when they
 * shut down, and at random with `--goaway-chance`. Requests that the server has accepted continue. undici sends the
 * others again, but not before all that were accepted have ended: they wait as long as the longest watch.
 * @returns ends the calls
 */
export function whenAskedToLeave(pool: Dispatcher, callback: () => void): () => void {
  const listener = (_origin: URL, _targets: readonly Dispatcher[], { message }: Error): void => {
    if (message.includes('"GOAWAY"')) callback();
  };
  pool.on('disconnect', listener);
  return () => void pool.off('disconnect', listener);
}

/** Calls back each time a connection of the pool could not be opened. */
export function whenNotConnected(pool: Dispatcher, callback: () => void): void {
  pool.on('connectionError', callback);
}

function isHttp2(socket: Socket | TLSSocket): boolean {
  return 'alpnProtocol' in socket && socket.alpnProtocol === 'h2';
}

/**
 * undici sends pings, and never misses their answers. It pings no connection that the server has asked to leave: there
 * nothing is sent and nothing has to arrive, and TCP's keep-alive ends it after 40 s.
 */
function endWhenSilent(socket: Socket): void {
  let received = socket.bytesRead;
  let sent = socket.bytesWritten;
  let silent = 0;
  const timer = setInterval(() => {
    if (socket.bytesRead !== received) silent = 0;
    else if (socket.bytesWritten !== sent) silent += 1;
    received = socket.bytesRead;
    sent = socket.bytesWritten;
    if (silent < silentIntervals) return;
    socket.destroy(new Error('the connection is dead: no ping on it was answered for 30 s'));
  }, pingMs).unref();
  socket.once('close', () => clearInterval(timer));
}
