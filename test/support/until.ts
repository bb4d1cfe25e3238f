import { setTimeout as sleep } from 'node:timers/promises';
import { pauseMs } from '../testbed/progress.ts';

/** Between two looks at the least, so that who waits leaves the processors to what is waited for. */
const shortestMs = 100;

/**
 * Resolves with the first result that is not undefined or false; throws what was waited for after the time limit. The
 * limit ends what hangs, also on a machine with ten times more to do than it can: it says nothing about speed.
 */
export async function until<T>(
  what: string,
  condition: () => T | undefined | false | Promise<T | undefined | false>,
  limitMs = 60_000,
): Promise<T> {
  const start = performance.now();
  while (performance.now() < start + limitMs) {
    const begun = performance.now();
    const result = await condition();
    if (result !== undefined && result !== false) return result;
    await sleep(pauseMs({ shortestMs, start, begun }));
  }
  throw new Error(`waited ${limitMs} ms in vain for: ${what}`);
}
