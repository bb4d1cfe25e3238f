import { expect, it } from 'vitest';
import { until } from './until.ts';

const limitMs = 300;

it('a wait goes on for longer than its limit while there is progress', async () => {
  let checks = 0;
  const start = performance.now();
  await until(
    'the end',
    () => ++checks === 8,
    limitMs,
    () => checks,
  );
  expect(performance.now() - start).toBeGreaterThan(limitMs);
});

it('a wait ends at its limit once there is no more progress', async () => {
  let checks = 0;
  const progress = () => Math.min(checks, 5);
  await expect(until('the end', () => ++checks < 0, limitMs, progress)).rejects.toThrow(
    'waited 300 ms without success for: the end; progress: 5',
  );
  expect(checks).toBeGreaterThan(5);
});

it('a wait ends some limits after its start, although what it waits for changes for ever', async () => {
  let checks = 0;
  const progress = () => checks;
  await expect(until('the end', () => ++checks < 0, 200, progress)).rejects.toThrow('waited 2000 ms without success');
});
