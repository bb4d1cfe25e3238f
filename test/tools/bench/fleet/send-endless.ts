import type { Writable } from 'node:stream';

/** The same again and again, as fast as the other side reads, until it closes. */
export function sendEndless(response: Writable, piece: Buffer | string): void {
  const more = (): void => {
    while (!response.destroyed && response.writable && response.write(piece));
  };
  response.on('drain', more);
  more();
}

/** A little each second, until the other side closes. */
export function sendSlowly(response: Writable, piece: Buffer | string): void {
  const timer = setInterval(() => response.write(piece), 1_000).unref();
  response.once('close', () => clearInterval(timer));
}
