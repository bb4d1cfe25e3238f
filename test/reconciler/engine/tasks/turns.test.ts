import { describe, expect, it } from 'vitest';
import { type Held, turnLimits, Turns } from '../../../../reconciler/engine/tasks/turns.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const second = 1_000;
const minute = 60 * second;
const never = new AbortController().signal;

/** Turns, and tasks that hold one for a time. */
function setUp() {
  const clock = new ManualClock();
  const turns = new Turns(turnLimits.upload, clock);
  const holding =
    (ms: number, bytes = 0) =>
    ({ signal, moved }: Held) =>
      new Promise<void>((resolve, reject) => {
        moved(bytes);
        const cancel = clock.setTimer(ms, resolve);
        signal.addEventListener('abort', () => {
          cancel();
          reject(signal.reason as Error);
        });
      });
  /** Runs a task of a namespace, and another one as soon as it has ended. */
  const endlessly = async (namespace: string, ms: number, bytes = 0): Promise<void> => {
    for (;;) await turns.run(namespace, never, holding(ms, bytes)).catch(() => {});
  };
  /** Runs one of each of these namespaces each minute; how long each one took, with its wait. */
  const eachMinute = async (namespaces: readonly string[], ms: number, minutes: number): Promise<number[]> => {
    const took: number[] = [];
    for (let count = 0; count < minutes; count += 1) {
      const start = clock.elapsed();
      for (const namespace of namespaces)
        void turns.run(namespace, never, holding(ms)).then(() => took.push(clock.elapsed() - start));
      await clock.advance(minute);
    }
    return took;
  };
  return { turns, clock, endlessly, eachMinute };
}

const named = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}-${index}`);

describe('beside twenty namespaces whose servers say nothing for a minute', () => {
  it('tasks of as many others that are quick are on time each minute', async () => {
    const { endlessly, eachMinute, clock } = setUp();
    for (const namespace of named('hostile', 20)) void endlessly(namespace, minute);
    // Nothing is known of a namespace before its first task has ended.
    await clock.advance(3 * minute);
    const took = await eachMinute(named('good', 20), 2 * second, 10);
    expect(took).toHaveLength(200);
    expect(Math.max(...took)).toBeLessThanOrEqual(10 * second);
  });

  it('those that move what a usual database has are quick, however long they last', async () => {
    const { turns, endlessly, clock } = setUp();
    for (const namespace of named('large', 4)) void endlessly(namespace, 5 * minute, 5 * 60 * (4 << 20));
    for (const namespace of named('hostile', 20)) void endlessly(namespace, minute);
    await clock.advance(20 * minute);
    let isDone = false;
    void turns.run('large-4', never, async () => void (isDone = true));
    await clock.advance(minute);
    expect(isDone).toBe(true);
  });

  it('each of them has its turn nevertheless', async () => {
    const { turns, endlessly, clock } = setUp();
    for (const namespace of named('hostile', 20)) void endlessly(namespace, minute);
    await clock.advance(10 * minute);
    const begun = new Set<string>();
    for (const namespace of named('hostile', 20))
      void turns.run(namespace, never, async () => void begun.add(namespace));
    await clock.advance(10 * minute);
    expect(begun.size).toBe(20);
  });
});
