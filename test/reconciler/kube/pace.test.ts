import { expect, it } from 'vitest';
import { Pace } from '../../../reconciler/kube/pace.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const options = { burst: 3, intervalMs: 1_000 };

function runs(pace: Pace, count: number): void {
  for (let run = 0; run < count; run += 1) pace.count('a');
}

it.each([
  [0, 0],
  [2, 0],
  [3, 1_000],
])('after %i runs at once the next one waits %i ms', (count, delayMs) => {
  const pace = new Pace(options, new ManualClock());
  runs(pace, count);
  expect(pace.delayMs('a')).toBe(delayMs);
  expect(pace.delayMs('b')).toBe(0);
});

it('runs that waited for nothing keep the next one waiting for one interval at most', async () => {
  const clock = new ManualClock();
  const pace = new Pace(options, clock);
  runs(pace, 100);
  expect(pace.delayMs('a')).toBe(1_000);
  await clock.advance(1_000);
  expect(pace.delayMs('a')).toBe(0);
});

it('a rest gives the burst back', async () => {
  const clock = new ManualClock();
  const pace = new Pace(options, clock);
  runs(pace, 3);
  await clock.advance(3_000);
  runs(pace, 2);
  expect(pace.delayMs('a')).toBe(0);
});
