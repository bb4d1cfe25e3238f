import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below those that the kernel gives to connections: one of these could be taken before it is listened on. Every second one,
 * by the lane: two of them run side by side, and neither knows what the other was given.
 */
const [first, end] = [10_000, 20_000];
const lane = Number(/\d*$/.exec(process.env['HCP_TESTBED'] ?? '')?.[0] ?? 0) % 2;

/** Those that were given, which may be listened on much later. */
const given = new Set<number>();

/** A TCP port of the loopback address that nobody listens on right now, and that nobody in this process was given. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 2 * randomInt(first / 2, end / 2) + lane;
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    );
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
