import { subscribe } from 'node:diagnostics_channel';
import type { ClientHttp2Stream } from 'node:http2';

type Session = NonNullable<ClientHttp2Stream['session']>;

const checkMs = 3_000;
/** How many checks in a row find frames that wait, and nothing sent since the one before. */
const stuckChecks = 3;

/**
 * Ends each HTTP/2 session that sends nothing of what waits. If a write over TLS fails at once, because the server was killed, Node never
 * finishes the next one. Meanwhile it does not read, and never sees that the connection has ended: all requests and watches wait for
 * ever, and pings with them. It happens to busy clients, which write before they read. Remove this when Node finishes each write.
 */
export function endStuckSessions(): void {
  const known = new WeakSet<Session>();
  subscribe('http2.client.stream.created', (message) => {
    const { session } = (message as { readonly stream: ClientHttp2Stream }).stream;
    if (!session || known.has(session)) return;
    known.add(session);
    endWhenStuck(session);
  });
}

function endWhenStuck(session: Session): void {
  let [sent, read, stuck] = [-1, -1, 0];
  let isDue = false;
  const check = (): void => {
    isDue = false;
    if (session.destroyed) return clearInterval(timer);
    const { bytesWritten, bytesRead } = session.socket;
    const isWaiting = (session.state.outboundQueueSize ?? 0) > 0;
    stuck = isWaiting && bytesWritten === sent ? stuck + 1 : 0;
    // Something has to wait on one that is stuck. The answer does not matter.
    if (!isWaiting && bytesWritten === sent && bytesRead === read) session.ping(() => {});
    [sent, read] = [bytesWritten, bytesRead];
    if (stuck === stuckChecks) {
      session.destroy(new Error(`the connection is dead: it has sent nothing for ${(stuckChecks * checkMs) / 1000} s`));
    }
  };
  const timer = setInterval(() => {
    if (isDue) return;
    isDue = true;
    // Node sends what was waiting in the first turn of its loop. However late the timer is, that comes between two checks.
    setImmediate(() => setImmediate(check));
  }, checkMs).unref();
}
