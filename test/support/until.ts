import { setTimeout as sleep } from 'node:timers/promises';
import { pauseMs } from '../tools/testbed/progress.ts';

/** Minimum time between two checks, which leaves processor time to what is awaited. */
const shortestMs = 100;

/** A wait lasts this many times its limit at most, however what it reports changes: a pod that restarts for ever changes for ever. */
const mostLimits = 10;

/**
 * Resolves with the first result that is not undefined or false; throws the description, and the progress, after the time limit. The limit only
 * ends what hangs, even on a machine with ten times its usual load: it does not assert a duration.
 * @param progress what long work reports: each change of it starts the limit again, because what goes on does not hang
 */
export async function until<T>(
  what: string,
  condition: () => T | undefined | false | Promise<T | undefined | false>,
  limitMs = 60_000,
  progress: () => unknown = () => undefined,
): Promise<T> {
  const start = performance.now();
  let [changed, seen] = [start, JSON.stringify(progress())];
  for (;;) {
    const begun = performance.now();
    const result = await condition();
    if (result !== undefined && result !== false) return result;
    const now = JSON.stringify(progress());
    if (now !== seen) [changed, seen] = [performance.now(), now];
    if (performance.now() >= Math.min(changed + limitMs, start + mostLimits * limitMs)) break;
    await sleep(pauseMs({ shortestMs, start, begun }));
  }
  const waitedMs = changed + limitMs <= performance.now() ? limitMs : mostLimits * limitMs;
  throw new Error(
    `waited ${waitedMs} ms without success for: ${what}${seen === undefined ? '' : `; progress: ${seen}`}`,
  );
}

/**
 * Acts once in each state, and resolves with all of them when `observe` finds none any more. Between two actions it only
 * observes, so that an action that lasts, such as the start of another operator, does not make it miss a short state.
 * @param limitMs maximum time from one state to the next
 */
export async function inEachState(
  what: string,
  observe: () => Promise<string | undefined>,
  act: (state: string) => Promise<unknown>,
  limitMs?: number,
): Promise<readonly string[]> {
  const states = new Set<string>();
  for (;;) {
    const next = await until(
      `${what}, after ${[...states].join('; ') || 'no state'}`,
      async () => {
        const state = await observe();
        return state === undefined || !states.has(state) ? { state } : undefined;
      },
      limitMs,
    );
    if (next.state === undefined) return [...states];
    states.add(next.state);
    await act(next.state);
  }
}

/**
 * Resolves as {@link until} does, and reconciles a control plane meanwhile: what the operator has applied in a hosted cluster and does not
 * watch it lists again with a reconcile, ten seconds after the last time.
 */
export async function untilReconciled<T>(
  bench: { patch(cluster: string, change: object): Promise<unknown> },
  cluster: string,
  what: string,
  condition: () => Promise<T | undefined | false>,
): Promise<T> {
  let looks = 0;
  return until(what, async () => {
    if (looks++ % 10 === 0) await bench.patch(cluster, { metadata: { annotations: { looks: `${looks}` } } });
    return condition();
  });
}
