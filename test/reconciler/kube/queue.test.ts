import { describe, expect, it } from 'vitest';
import { WorkQueue, type WorkQueueOptions } from '../../../reconciler/kube/queue.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';

/** A queue whose runs end when the test ends them. */
function manualQueue(options: Partial<WorkQueueOptions> = {}) {
  const clock = new ManualClock();
  const started: string[] = [];
  const endings: { key: string; resolve: () => void; reject: (error: Error) => void }[] = [];
  const queue = new WorkQueue({
    clock,
    concurrency: 2,
    random: () => 0.5,
    process: (key) =>
      new Promise((resolve, reject) => {
        started.push(key);
        endings.push({ key, resolve, reject });
      }),
    ...options,
  });
  const end = async (key: string, error?: Error): Promise<void> => {
    const index = endings.findIndex((ending) => ending.key === key);
    const [ending] = endings.splice(index, 1);
    if (error) ending?.reject(error);
    else ending?.resolve();
    await settled();
  };
  return { queue, clock, started, end };
}

describe('WorkQueue', () => {
  it('runs a key once that was added many times', async () => {
    const { queue, started, end } = manualQueue({ concurrency: 1 });
    queue.add('first');
    for (let i = 0; i < 100; i++) queue.add('key');
    await end('first');
    await end('key');
    expect(started).toEqual(['first', 'key']);
  });

  it('gives groups their turns, so that many keys of one do not keep another waiting', async () => {
    const { queue, started, end } = manualQueue({ concurrency: 1, groupOf: (key) => key[0] ?? '' });
    for (const key of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']) queue.add(key);
    for (let index = 0; index < 7; index++) await end(started.at(-1) ?? '');
    expect(started).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
  });

  it('processes the key with the highest priority next, and keys of the same by their groups', async () => {
    const { queue, started, end } = manualQueue({ concurrency: 1, groupOf: (key) => key[0] ?? '' });
    queue.add('a0');
    queue.add('a1', 1);
    queue.add('a2', 4.5);
    queue.add('b1', 1);
    queue.add('b2', 4.25);
    queue.add('c1', 0);
    for (let index = 0; index < 6; index++) await end(started.at(-1) ?? '');
    // The fourth turn is that of the key that has waited the longest.
    expect(started).toEqual(['a0', 'a2', 'b2', 'a1', 'b1', 'c1']);
  });

  it('keeps the highest priority of a key, whether it waits, is delayed or is processed', async () => {
    const { queue, clock, started, end } = manualQueue({ concurrency: 1 });
    queue.add('busy');
    queue.add('waits', 0);
    queue.add('waits', 3);
    queue.add('waits', 1);
    queue.addAfter('delayed', 100, 0);
    queue.addAfter('delayed', 200, 4);
    queue.add('busy', 5);
    queue.add('busy', 0);
    queue.add('other', 2);
    await clock.advance(100);
    for (let index = 0; index < 5; index++) await end(started.at(-1) ?? '');
    // The fourth turn is that of the key that has waited the longest, which has the highest priority, too.
    expect(started).toEqual(['busy', 'busy', 'delayed', 'waits', 'other']);
  });

  it('gives each fourth turn to the key that has waited the longest, whatever the priority of the others', async () => {
    const { queue, started, end } = manualQueue({ concurrency: 1 });
    queue.add('first', 5);
    for (const key of ['resync', 'event']) queue.add(key, 0);
    // As many that are being brought up as there are turns: without end they would keep the others waiting.
    for (let turn = 0; turn < 12; turn++) {
      queue.add(`advanced ${turn}`, 5);
      await end(started.at(-1) ?? '');
    }
    expect(started.indexOf('resync')).toBe(3);
    expect(started.indexOf('event')).toBe(7);
  });

  it('leaves half of the workers to keys that have not taken long the last time', async () => {
    const { queue, clock, started, end } = manualQueue({ concurrency: 4 });
    const slow = ['s1', 's2', 's3', 's4'];
    for (const key of slow) queue.add(key);
    await clock.advance(2_001);
    for (const key of slow) await end(key);
    started.length = 0;
    for (const key of [...slow, 'f1', 'f2', 'f3']) queue.add(key);
    expect(started).toEqual(['s1', 's2', 'f1', 'f2']);
    await end('f1');
    expect(started.at(-1)).toBe('f3');
    await end('s1');
    expect(started.at(-1)).toBe('s3');
  });

  it('leaves most workers to groups that use little, while these have something to do', async () => {
    const { queue, clock, started, end } = manualQueue({ concurrency: 10, groupOf: (key) => key[0] ?? '' });
    queue.add('h1');
    await clock.advance(8_000);
    await end('h1');
    queue.add('a1');
    await end('a1');
    started.length = 0;
    for (const key of ['h2', 'h3', 'h4', 'h5', 'h6', 'h7', 'h8', 'a2', 'b1']) queue.add(key);
    expect(started).toEqual(['h2', 'h3', 'a2', 'b1']);
    await end('h2');
    expect(started.slice(4)).toEqual(['h4']);
    // The others rest.
    for (const key of ['a2', 'b1']) await end(key);
    await clock.advance(10_000);
    await end('h3');
    expect(started.slice(5)).toEqual(['h5', 'h6', 'h7', 'h8']);
  });

  it('does not hold back a group that is alone', async () => {
    const { queue, clock, started, end } = manualQueue({ concurrency: 10, groupOf: (key) => key[0] ?? '' });
    const keys = ['a1', 'a2', 'a3', 'a4', 'a5'];
    for (const key of keys) queue.add(key);
    await clock.advance(1_900);
    for (const key of keys) await end(key);
    started.length = 0;
    for (const key of keys) queue.add(key);
    expect(started).toEqual(keys);
  });

  it('processes a slow key alone, and as any other once it has not taken long', async () => {
    const { queue, clock, started, end } = manualQueue({ concurrency: 1 });
    for (const key of ['one', 'two']) queue.add(key);
    await clock.advance(2_001);
    await end('one');
    await end('two');
    queue.add('one');
    queue.add('other');
    expect(started.slice(2)).toEqual(['one']);
    await end('one');
    await end('other');
    expect(started.slice(2)).toEqual(['one', 'other']);
  });

  it('runs a key once more that was added during its run, and never twice at once', async () => {
    const { queue, started, end } = manualQueue();
    queue.add('key');
    queue.add('key');
    queue.add('key');
    expect(started).toEqual(['key']);
    await end('key');
    expect(started).toEqual(['key', 'key']);
    await end('key');
    expect(started).toHaveLength(2);
  });

  it('runs at most as many keys at once as it has workers, in order of arrival', async () => {
    const { queue, started, end } = manualQueue();
    for (const key of ['a', 'b', 'c', 'd']) queue.add(key);
    expect(started).toEqual(['a', 'b']);
    expect(queue.depth).toBe(2);
    await end('b');
    expect(started).toEqual(['a', 'b', 'c']);
  });

  it('uses the earliest of several delays', async () => {
    const { queue, clock, started } = manualQueue();
    queue.addAfter('key', 5_000);
    queue.addAfter('key', 1_000);
    queue.addAfter('key', 3_000);
    await clock.advance(999);
    expect(started).toEqual([]);
    await clock.advance(1);
    expect(started).toEqual(['key']);
    expect(clock.pending).toBe(0);
  });

  it('drops the delay of a key that runs earlier', async () => {
    const { queue, clock, started, end } = manualQueue();
    queue.addAfter('key', 1_000);
    queue.add('key');
    await end('key');
    await clock.advance(10_000);
    expect(started).toEqual(['key']);
  });

  it('keeps a delay that was set during the run', async () => {
    const { queue, clock, started, end } = manualQueue();
    queue.add('key');
    queue.addAfter('key', 1_000);
    await end('key');
    await clock.advance(1_000);
    expect(started).toEqual(['key', 'key']);
  });

  it('backs off exponentially up to a minute while a key fails, and reports each failure', async () => {
    const failures: unknown[] = [];
    const times: number[] = [];
    const { queue, clock } = manualQueue({
      process: async () => {
        times.push(clock.now());
        throw new Error('broken');
      },
      onError: (key, error) => failures.push([key, error]),
    });
    queue.add('key');
    await clock.advance(10 * 60_000);
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(gaps.slice(0, 4)).toEqual([5, 10, 20, 40]);
    expect(gaps.at(-1)).toBe(60_000);
    expect(failures[0]).toEqual(['key', new Error('broken')]);
  });

  it('processes failed keys at once, from the first delay on, when what they failed for has ended', async () => {
    const { queue, clock, started, end } = manualQueue();
    queue.add('failed');
    for (let failures = 0; failures < 20; failures++) {
      await end('failed', new Error('broken'));
      await clock.advance(60_000);
    }
    await end('failed', new Error('broken'));
    queue.addAfter('waits', 10_000);
    started.length = 0;
    queue.retryFailed();
    expect(started).toEqual(['failed']);
    await end('failed', new Error('still broken'));
    await clock.advance(5);
    expect(started).toEqual(['failed', 'failed']);
    queue.retryFailed();
    await end('failed');
    await clock.advance(9_995);
    expect(started).toEqual(['failed', 'failed', 'waits']);
  });

  it('tries one of the keys that fail for the same reason each 10 s, and all when one succeeds', async () => {
    let broken = new Set(['a', 'b', 'own']);
    const tried: string[] = [];
    const { queue, clock } = manualQueue({
      process: async (key) => {
        tried.push(key);
        if (broken.has(key)) throw new Error(key === 'own' ? 'its own' : 'away');
      },
      isShared: (error) => (error as Error).message === 'away',
    });
    for (const key of ['a', 'b', 'own', 'healthy']) queue.add(key);
    await clock.advance(10 * 60_000);
    tried.length = 0;
    queue.add('healthy');
    await clock.advance(120_000);
    const own = tried.filter((key) => key === 'own').length;
    expect(own).toBe(2);
    expect(tried.length - own).toBeLessThanOrEqual(1 + 12 + 4);
    broken = new Set(['own']);
    tried.length = 0;
    await clock.advance(10_000);
    expect(tried.filter((key) => key !== 'own').toSorted()).toEqual(['a', 'b']);
    await queue.stop();
    expect(clock.pending).toBe(0);
  });

  it('resets the back-off after a success', async () => {
    const { queue, clock, started, end } = manualQueue();
    queue.add('key');
    for (const delay of [5, 10, 20]) {
      await end('key', new Error('broken'));
      await clock.advance(delay);
    }
    await end('key');
    queue.add('key');
    await end('key', new Error('broken again'));
    await clock.advance(5);
    expect(started).toHaveLength(6);
  });

  it('keeps the back-off of a run that requested it without failing', async () => {
    const { queue, clock, started, end } = manualQueue();
    queue.add('key');
    queue.addRateLimited('key');
    await end('key');
    await clock.advance(5);
    queue.addRateLimited('key');
    await end('key');
    await clock.advance(9);
    expect(started).toHaveLength(2);
    await clock.advance(1);
    expect(started).toHaveLength(3);
  });

  it('jitters the back-off by a fifth in both directions', async () => {
    const { queue, clock, started, end } = manualQueue({ random: () => 0 });
    queue.add('key');
    await end('key', new Error('broken'));
    await clock.advance(4);
    expect(started).toHaveLength(2);
  });

  it('spaces the runs of a key once it has used its burst, and those of no other key', async () => {
    const times: string[] = [];
    const { queue, clock } = manualQueue({
      pace: { burst: 3, intervalMs: 1_000 },
      process: async (key) => void times.push(`${key} ${clock.elapsed() - begun}`),
    });
    const begun = clock.elapsed();
    for (let passed = 0; passed < 3_000; passed += 100) {
      queue.add('busy');
      await clock.advance(100);
    }
    queue.add('calm');
    await clock.advance(0);
    expect(times).toEqual(['busy 0', 'busy 100', 'busy 200', 'busy 1000', 'busy 2000', 'busy 3000', 'calm 3000']);
  });

  it('restores the burst of a key that rests', async () => {
    const { queue, clock, started, end } = manualQueue({ pace: { burst: 2, intervalMs: 1_000 } });
    for (let count = 0; count < 2; count++) {
      for (let run = 0; run < 2; run++) {
        queue.add('key');
        await end('key');
      }
      await clock.advance(2_000);
    }
    expect(started).toHaveLength(4);
  });

  it('spaces also the run of a key that was added during its run', async () => {
    const { queue, clock, started, end } = manualQueue({ pace: { burst: 1, intervalMs: 1_000 } });
    queue.add('key');
    queue.add('key');
    await end('key');
    await clock.advance(999);
    expect(started).toHaveLength(1);
    await clock.advance(1);
    expect(started).toHaveLength(2);
  });

  it('is drained when nothing is ready or running', async () => {
    const { queue, end } = manualQueue({ concurrency: 1 });
    queue.add('a');
    queue.add('b');
    let drained = false;
    const done = queue.drain().then(() => (drained = true));
    await end('a');
    expect(drained).toBe(false);
    await end('b');
    await done;
    expect(drained).toBe(true);
  });

  it('knows for how long due keys have waited while no key began and none ended', async () => {
    const { queue, clock, end } = manualQueue({ concurrency: 1 });
    queue.add('a');
    queue.addAfter('later', 600_000);
    await clock.advance(300_000);
    expect(queue.undoneMs).toBe(0);
    queue.add('b');
    queue.add('c');
    await clock.advance(60_000);
    queue.add('b');
    expect(queue.undoneMs).toBe(60_000);
    await end('a');
    // The next one has begun.
    expect(queue.undoneMs).toBe(0);
    await clock.advance(60_000);
    clock.setTime(3_600_000);
    expect(queue.undoneMs).toBe(60_000);
    await end('b');
    await end('c');
    expect(queue.undoneMs).toBe(0);
  });

  it('knows the run that has stood still the longest, whatever the others and the clock on the wall do', async () => {
    const { queue, clock, end } = manualQueue();
    expect(queue.stillest).toBeUndefined();
    queue.add('a');
    await clock.advance(60_000);
    queue.add('b');
    await clock.advance(60_000);
    clock.setTime(3_600_000);
    expect(queue.stillest).toEqual({ key: 'a', ms: 120_000 });
    queue.noteStep('a');
    queue.noteStep('other');
    expect(queue.stillest).toEqual({ key: 'b', ms: 60_000 });
    await end('b');
    expect(queue.stillest).toEqual({ key: 'a', ms: 0 });
    await end('a');
    queue.noteStep('a');
    expect(queue.stillest).toBeUndefined();
  });

  it('stops after the current runs and starts no more', async () => {
    const { queue, clock, started, end } = manualQueue({ concurrency: 1 });
    queue.add('running');
    queue.add('ready');
    queue.addAfter('delayed', 10);
    const stopped = queue.stop();
    queue.add('late');
    queue.addAfter('late', 10);
    await end('running', new Error('broken'));
    await stopped;
    await clock.advance(120_000);
    expect(started).toEqual(['running']);
  });
});
