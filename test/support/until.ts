import { setTimeout as sleep } from 'node:timers/promises';

/** Between two looks at the least, so that who waits leaves the processors to what is waited for. */
const shortestMs = 100;
/** Between two looks at the most, of what has been waited for long. */
const longestMs = 1_000;

/**
 * Resolves with the first result that is not undefined or false; throws what was waited for after the time limit. The
 * limit ends what hangs, also on a machine with ten times more to do than it can: it says nothing about speed. Looks come
 * more seldom the longer the wait, so that what is there is seen late by a twentieth of it; and so do looks that take
 * long, such as those by kubectl: waiting is a fifth of a core at most.
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
    const looked = performance.now();
    await sleep(Math.max(shortestMs, Math.min(longestMs, (looked - start) / 20), 4 * (looked - begun)));
  }
  throw new Error(`waited ${limitMs} ms in vain for: ${what}`);
}
