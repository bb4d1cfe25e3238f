import { describe, expect, it } from 'vitest';
import { expiredBackups, type RetainedBackup, type RetentionPolicy } from '../../../reconciler/backup/retention.ts';

const day = 86_400_000;
const now = Date.parse('2026-11-21T12:00:00Z');

/** `0 1v 5`: backups of today, of yesterday and verified, and of five days ago. */
const backups = (text: string): RetainedBackup[] =>
  text
    .split(' ')
    .filter((word) => word !== '')
    .map((word) => ({ time: now - parseInt(word, 10) * day, isVerified: word.endsWith('v') }));

const ages = (expired: readonly RetainedBackup[]): string =>
  expired.map(({ time }) => String((now - time) / day)).join(' ');

describe('retention', () => {
  it.each<[string, string, RetentionPolicy, string]>([
    ['deletes nothing without limits', '0 1 2 1000', {}, ''],
    ['has nothing to delete', '', { maxCount: 1, maxAgeMs: day }, ''],
    ['keeps the newest by count and deletes the oldest first', '0v 1 2 3', { maxCount: 2 }, '3 2'],
    ['keeps those younger than the maximum age', '0v 1 2 3', { maxAgeMs: 2 * day }, '3'],
    ['applies both limits', '0v 1 2 3 4', { maxCount: 4, maxAgeMs: 2 * day }, '4 3'],
    ['does not depend on the order of the list', '3 0v 2 1', { maxCount: 2 }, '3 2'],
    ['keeps the newest one at any age', '50 60 70', { maxAgeMs: day }, '70 60'],
    ['keeps the newest one with a limit of zero', '0 1', { maxCount: 0 }, '1'],
    ['keeps the last verified one beside the newest', '0 1 2v 3v 4', { maxCount: 1 }, '4 3 1'],
    ['keeps the last verified one at any age', '0 1 90v 91v', { maxAgeMs: day }, '91'],
    ['does not treat a time in the future as old', '-1 0v 5', { maxAgeMs: day }, '5'],
  ])('%s', (_, list, policy, expected) => {
    expect(ages(expiredBackups(backups(list), policy, now))).toBe(expected);
  });
});

/** Numbers below 1 that are the same in every run. */
function* randoms(seed: number): Generator<number, never> {
  for (let state = seed; ;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

describe('retention of any backups under any policy', () => {
  const random = randoms(20_261_121);
  const below = (limit: number): number => Math.floor(random.next().value * limit);
  const cases = Array.from({ length: 2_000 }, () => ({
    list: Array.from({ length: below(12) }, () => ({
      time: now - below(40) * day + below(2),
      isVerified: below(4) === 0,
    })),
    policy: {
      maxCount: below(3) === 0 ? undefined : below(8),
      maxAgeMs: below(3) === 0 ? undefined : below(30) * day,
    },
  }));

  it('leaves a newest and a verified one if there were some, and has nothing more to delete', () => {
    for (const { list, policy } of cases) {
      const expired = expiredBackups(list, policy, now);
      const left = list.filter((backup) => !expired.includes(backup));
      const newest = (of: readonly RetainedBackup[]): number => Math.max(...of.map(({ time }) => time));
      const verified = (of: readonly RetainedBackup[]): RetainedBackup[] => of.filter(({ isVerified }) => isVerified);
      expect(newest(left)).toBe(newest(list));
      expect(newest(verified(left))).toBe(newest(verified(list)));
      expect(expiredBackups(left, policy, now)).toEqual([]);
    }
  });

  it('leaves no more than the policy allows, apart from these two, and deletes none that the policy allows', () => {
    for (const { list, policy } of cases) {
      const expired = expiredBackups(list, policy, now);
      const left = list.filter((backup) => !expired.includes(backup));
      expect(left.length).toBeLessThanOrEqual(Math.max(2, (policy.maxCount ?? list.length) + 1));
      expect(left.filter(({ time }) => now - time > (policy.maxAgeMs ?? Infinity)).length).toBeLessThanOrEqual(2);
      for (const { time } of expired) {
        const isTooOld = now - time > (policy.maxAgeMs ?? Infinity);
        const newer = list.filter((other) => other.time >= time).length - 1;
        expect(isTooOld || newer >= (policy.maxCount ?? Infinity)).toBe(true);
      }
    }
  });
});
