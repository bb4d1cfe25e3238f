import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { jittered, pause, systemClock } from '../../../reconciler/kube/clock.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';

const dayMs = 24 * 60 * 60_000;

describe('systemClock', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('waits for longer than a timer of Node can', () => {
    const fired = vi.fn<() => void>();
    systemClock.setTimer(60 * dayMs, fired);
    vi.advanceTimersByTime(60 * dayMs - 1);
    expect(fired).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(fired).toHaveBeenCalledOnce();
  });

  it('cancels a long wait in any of its stages', () => {
    const fired = vi.fn<() => void>();
    const cancel = systemClock.setTimer(60 * dayMs, fired);
    vi.advanceTimersByTime(30 * dayMs);
    cancel();
    vi.advanceTimersByTime(60 * dayMs);
    expect(fired).not.toHaveBeenCalled();
  });
});

describe('pause', () => {
  it('ends after the delay and leaves no timer', async () => {
    const clock = new ManualClock();
    const controller = new AbortController();
    let ended = false;
    const pausing = pause(clock, 1_000, controller.signal).then(() => (ended = true));
    await clock.advance(999);
    expect(ended).toBe(false);
    await clock.advance(1);
    await pausing;
    expect(clock.pending).toBe(0);
  });

  it('ends at once when the signal aborts or has aborted', async () => {
    const clock = new ManualClock();
    const controller = new AbortController();
    const pausing = pause(clock, 1_000, controller.signal);
    controller.abort();
    await pausing;
    await pause(clock, 1_000, controller.signal);
    await settled();
    expect(clock.pending).toBe(0);
  });
});

describe('jittered', () => {
  it.each([
    [0, 800],
    [0.5, 1_000],
    [1, 1_200],
  ])('spreads by a fifth: %d gives %d', (random, expected) => {
    expect(jittered(1_000, () => random)).toBeCloseTo(expected);
  });
});
