import { setTimeout as sleep } from 'node:timers/promises';

/** Between two looks at the least, so that who waits leaves the processors to what is waited for. */
const periodMs = 100;

/**
 * Resolves with the first result that is not undefined or false; throws what was waited for after the time limit. The
 * limit ends what hangs, also on a machine with ten times more to do than it can: it says nothing about speed. A look
 * that takes long, such as one by kubectl, is taken more seldom: waiting is a fifth of a core at most.
 */
export async function until<T>(
  what: string,
  condition: () => T | undefined | false | Promise<T | undefined | false>,
  limitMs = 60_000,
): Promise<T> {
  for (const end = performance.now() + limitMs; performance.now() < end;) {
    const begun = performance.now();
    const result = await condition();
    if (result !== undefined && result !== false) return result;
    await sleep(Math.max(periodMs, 4 * (performance.now() - begun)));
  }
  throw new Error(`waited ${limitMs} ms in vain for: ${what}`);
}
