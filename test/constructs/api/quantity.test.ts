import { describe, expect, it } from 'vitest';
import { durationSeconds } from '../../../constructs/api/duration.ts';
import { quantityValue } from '../../../constructs/api/quantity.ts';

describe('quantityValue', () => {
  it.each([
    ['10', 10],
    ['8Gi', 8 * 1024 ** 3],
    ['1.5Ki', 1536],
    ['500m', 0.5],
    ['2k', 2000],
    ['3M', 3e6],
    ['1e3', 1000],
    ['12E', 12e18],
    ['250u', 0.00025],
    ['-1Mi', -(1024 ** 2)],
  ])('reads %s as %d', (quantity, value) => {
    expect(quantityValue(quantity)).toBeCloseTo(value, 9);
  });

  it.each(['', 'Gi', '8GB', '8 Gi', '1.2.3'])('refuses "%s"', (quantity) => {
    expect(() => quantityValue(quantity)).toThrow('is not a quantity');
  });
});

describe('durationSeconds', () => {
  it.each([
    ['48h', 172_800],
    ['1h30m', 5400],
    ['1.5h', 5400],
    ['250ms', 0.25],
    ['10m5s', 605],
  ])('reads %s as %d seconds', (duration, seconds) => {
    expect(durationSeconds(duration)).toBeCloseTo(seconds, 9);
  });

  it.each(['', '10', '1d', '1h 30m', '-1h'])('refuses "%s"', (duration) => {
    expect(() => durationSeconds(duration)).toThrow('is not a duration');
  });
});
