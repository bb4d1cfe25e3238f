import { expect, it } from 'vitest';
import { line, median, percentile, unmeasured } from './figure.ts';

it.each([
  [{ name: 'ratio', value: 0.9, unit: 'ratio', goal: { atLeast: 0.8 } }, 'goal at least 0.8: met'],
  [{ name: 'ratio', value: 0.7, unit: 'ratio', goal: { atLeast: 0.8 } }, 'goal at least 0.8: MISSED'],
  [{ name: 'stall', value: 2, unit: 's', goal: { atMost: 2 } }, 'goal at most 2: met'],
  [{ name: 'stall', value: 2.01, unit: 's', goal: { atMost: 2 } }, 'goal at most 2: MISSED'],
  [{ name: 'stall', value: Number.NaN, unit: 's', goal: { atMost: 2 } }, 'goal at most 2: MISSED'],
])('rates %j against its goal', (figure, rating) => {
  expect(line(figure)).toMatch(new RegExp(`${rating}$`));
});

it('ends a figure without a goal at its unit', () => {
  expect(line({ name: 'floor', value: 7.7, unit: 's' })).toMatch(/^floor +7\.70 s$/);
});

it.each([
  [[3, 1, 2], 2],
  [[4, 1, 2, 3], 2.5],
])('computes the median of %j', (values, middle) => {
  expect(median(values)).toBe(middle);
});

it.each([
  [0.99, 99],
  [0.5, 50],
  [1, 100],
])('computes the value that a share of %d does not exceed', (share, value) => {
  const values = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect(percentile(values, share)).toBe(value);
});

it('finds the figures without a measurement, so that a part that did nothing fails', () => {
  const figure = (name: string, value: number) => ({ name, value, unit: 's' });
  const figures = [
    figure('median', median([])),
    figure('p99', percentile([], 0.99)),
    figure('longest', -Infinity),
    figure('ratio', 1 / 0),
    figure('rest', 0),
  ];
  expect(unmeasured(figures)).toEqual(['median', 'p99', 'longest', 'ratio']);
});
