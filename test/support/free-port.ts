import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { laneOf } from '../tools/run/lane.ts';

/** Below the kernel's ephemeral range: a port from that range could be taken before the test listens on it. */
const [first, end] = [10_000, 20_000];

/** Each of the processes that run tests side by side has its own stripe, because none knows the ports of another. */
const stripes = 32;
const workersOfLane = 8;
const worker = Number(process.env['VITEST_POOL_ID'] ?? 0);
const stripe = (laneOf(process.env) * workersOfLane + (worker % workersOfLane)) % stripes;

/** Ports that were handed out and may be listened on much later. */
const given = new Set<number>();

/** A TCP port of the loopback address that no process listens on now and that this process has not handed out yet. */
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
