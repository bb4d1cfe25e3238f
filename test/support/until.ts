import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Resolves with the first result that is not undefined or false; throws what was waited for after the time limit. The
 * limit ends what hangs, also on a machine with ten times more to do than it can: it says nothing about speed.
 */
export async function until<T>(
  what: string,
  condition: () => T | undefined | false | Promise<T | undefined | false>,
  limitMs = 60_000,
): Promise<T> {
  for (const end = performance.now() + limitMs; performance.now() < end;) {
    const result = await condition();
    if (result !== undefined && result !== false) return result;
    await sleep(20);
  }
  throw new Error(`waited ${limitMs} ms in vain for: ${what}`);
}
