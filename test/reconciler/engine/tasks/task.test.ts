import { describe, expect, it } from 'vitest';
import { backOff } from '../../../../reconciler/kube/back-off.ts';
import { BackgroundWork } from '../../../../reconciler/engine/tasks/background-work.ts';
import { findTask, type TaskOptions } from '../../../../reconciler/engine/tasks/task.ts';
import { ManualClock, settled } from '../../../support/manual-clock.ts';

const started = Date.parse('2026-11-23T00:00:00Z');

function workbench() {
  const clock = new ManualClock(started);
  const work = new BackgroundWork({ clock, onChange: () => {} }).of('team/c1');
  const find = (inputsKey: string, options: Partial<TaskOptions<number>> = {}) =>
    findTask<number>(work, new Date(clock.now()), { name: 'ask', inputsKey, retryMs: 1_000, ...options });
  return { clock, find };
}

describe('a task', () => {
  it('is due until it is done for these inputs', async () => {
    const { find } = workbench();
    expect(find('a')).toMatchObject({ isDue: true, state: { kind: 'idle' } });
    find('a').start(async () => 1);
    expect(find('a')).toMatchObject({ isDue: false, state: { kind: 'running' } });
    await settled();
    expect(find('a')).toMatchObject({ isDue: false, state: { kind: 'done', result: 1 } });
    expect(find('b')).toMatchObject({ isDue: true, state: { kind: 'idle' } });
  });

  it('is due again when its result has expired, but still returns it', async () => {
    const { clock, find } = workbench();
    const holdsMs = (result: number) => result * 1_000;
    find('a').start(async () => 2);
    await settled();
    await clock.advance(1_999);
    expect(find('a', { holdsMs }).isDue).toBe(false);
    await clock.advance(1);
    expect(find('a', { holdsMs })).toMatchObject({ isDue: true, state: { kind: 'done', result: 2 } });
  });

  it('is retried after a failure with the same inputs, later with each failure, and at once with others', async () => {
    const { clock, find } = workbench();
    const options = { retryMs: ({ failures }: { readonly failures: number }) => failures * 1_000 };
    const fail = async () => {
      find('a', options).start(() => Promise.reject(new Error('no')));
      await settled();
    };
    await fail();
    await clock.advance(999);
    expect(find('a', options).isDue).toBe(false);
    await clock.advance(1);
    expect(find('a', options).isDue).toBe(true);
    await fail();
    await clock.advance(1_000);
    expect(find('a', options).isDue).toBe(false);
    expect(find('b', options).isDue).toBe(true);
  });

  it('waits for running work with other inputs, or aborts it if it supersedes that', async () => {
    const { find } = workbench();
    let aborted: unknown;
    find('a').start(
      ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            aborted = signal.reason;
            reject(signal.reason as Error);
          });
        }),
    );
    expect(find('b')).toMatchObject({ isDue: false, state: { kind: 'running', inputsKey: 'a' } });
    const superseding = find('b', { supersedes: true });
    expect(superseding).toMatchObject({ isDue: true, state: { kind: 'idle' } });
    superseding.start(async () => 3);
    await settled();
    expect(aborted).toBeInstanceOf(Error);
    expect(find('b')).toMatchObject({ state: { kind: 'done', result: 3 } });
  });
});

it.each([
  [1, 100],
  [2, 200],
  [5, 1_600],
  [6, 3_000],
  [2_000, 3_000],
])('backs off after failure %i for %i ms', (failures, ms) => {
  expect(backOff({ firstMs: 100, longestMs: 3_000 }, failures)).toBe(ms);
});
