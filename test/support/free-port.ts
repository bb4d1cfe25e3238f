import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { laneOf } from '../run/lane.ts';

/** Below those that the kernel gives to connections: one of these could be taken before it is listened on. */
const [first, end] = [10_000, 20_000];

/** Each of the processes that run tests side by side has its own: none knows what another was given. */
const stripes = 32;
const workersOfLane = 8;
const worker = Number(process.env['VITEST_POOL_ID'] ?? 0);
const stripe = (laneOf(process.env) * workersOfLane + (worker % workersOfLane)) % stripes;

/** Those that were given, which may be listened on much later. */
const given = new Set<number>();

/** A TCP port of the loopback address that nobody listens on right now, and that nobody in this process was given. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = stripes * randomInt(Math.ceil(first / stripes), Math.floor(end / stripes)) + stripe;
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
