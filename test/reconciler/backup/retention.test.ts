import { describe, expect, it } from 'vitest';
import { expiredBackups, type RetainedBackup, type RetentionPolicy } from '../../../reconciler/backup/retention.ts';

const day = 86_400_000;
const now = Date.parse('2026-11-21T12:00:00Z');

/** `0 1v 5`: backups in the order in which they were taken, of today, of yesterday and verified, and of five days ago. */
const backups = (text: string): RetainedBackup[] =>
  text
    .split(' ')
    .filter((word) => word !== '')
    .map((word) => ({ time: now - parseFloat(word) * day, isVerified: word.endsWith('v') }));

const ages = (expired: readonly RetainedBackup[]): string =>
  expired.map(({ time }) => String((now - time) / day)).join(' ');

const daily = { periodMs: day };

describe('retention', () => {
  it.each<[string, string, Omit<RetentionPolicy, 'periodMs'>, string]>([
    ['deletes nothing without limits', '0 1 2 1000', {}, ''],
    ['has nothing to delete', '', { maxCount: 1, maxAgeMs: day }, ''],
    ['keeps the newest by count and deletes the oldest first', '0v 1 2 3', { maxCount: 2 }, '3 2'],
    ['keeps those younger than the maximum age', '0v 1 2 3', { maxAgeMs: 2 * day }, '3'],
    ['measures the age from the newest one', '5v 6 7 8', { maxAgeMs: 2 * day }, '8'],
    ['counts those between the times of the schedule', '0v 0.25 0.5 1.5 2.5', { maxAgeMs: 1.5 * day }, '2.5'],
    ['applies both limits', '0v 1 2 3 4', { maxCount: 4, maxAgeMs: 2 * day }, '4 3'],
    ['goes by the order of the list, whatever the times', '3 0v 2 1', { maxCount: 2 }, '1 2'],
    ['keeps the newest one with a limit of zero', '0 1', { maxCount: 0 }, '1'],
    ['keeps the last verified one beside the newest', '0 1 2v 3v 4', { maxCount: 1 }, '4 3 1'],
    ['keeps the last verified one at any age', '0 2 4 6v 8v', { maxAgeMs: day }, '8 4 2'],
    ['counts a time of two periods', '0v 2 4', { maxAgeMs: 3 * day }, '4'],
    [
      'counts a longer time as one period: no backup was taken, or a clock has jumped',
      '0v 2.5 4.5',
      { maxAgeMs: 3 * day },
      '',
    ],
    ['and deletes by what was counted', '0v 2.5 4.5', { maxAgeMs: 3 * day - 1 }, '4.5'],
  ])('%s', (_, list, policy, expected) => {
    expect(ages(expiredBackups(backups(list), { ...daily, ...policy }))).toBe(expected);
  });

  const year = 365;
  const month = Array.from({ length: 31 }, (_, age) => age).join(' ');
  it.each<[string, string, string]>([
    ['a year ahead', `${-year} ${month}`, '30'],
    ['a year ahead for three days', `${-year - 2} ${-year - 1} ${-year} ${month}`, '30 29 28'],
    ['a year ahead, and back', `-1 ${-year} ${month}`, '30 29'],
    ['a year behind', `${year} ${month}`, '30'],
    ['a year behind, and back', `-1 ${year} ${month}`, '30 29'],
    ['an hour ahead, and back', `-1 ${-1 / 24} ${month}`, '30'],
  ])('deletes one backup for each new one when a clock was %s', (_, list, expected) => {
    expect(ages(expiredBackups(backups(list), { ...daily, maxAgeMs: 30 * day }))).toBe(expected);
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
  /** Backups up to two days apart, by a clock that jumps up to `jump` days when it does. */
  const cases = (jump: number) =>
    Array.from({ length: 2_000 }, () => {
      let time = now;
      const list = Array.from({ length: below(24) }, () => {
        time -= below(2 * day);
        if (jump > 0 && below(5) === 0) time += (below(2 * jump) - jump) * day;
        return { time, isVerified: below(4) === 0 };
      });
      const policy = {
        ...daily,
        maxCount: below(3) === 0 ? undefined : below(8),
        maxAgeMs: below(3) === 0 ? undefined : below(30) * day,
      };
      return { list, policy };
    });

  it('leaves the newest and the last verified one, whatever the clocks do', () => {
    for (const { list, policy } of [...cases(0), ...cases(400)]) {
      const expired = expiredBackups(list, policy);
      const left = list.filter((backup) => !expired.includes(backup));
      const verified = (of: readonly RetainedBackup[]) => of.find(({ isVerified }) => isVerified);
      expect(left[0]).toBe(list[0]);
      expect(verified(left)).toBe(verified(list));
    }
  });

  it('deletes by the age alone none of those that are no older by the schedule, whatever the clocks do', () => {
    for (const { list, policy } of cases(400)) {
      const byAge = { ...policy, maxCount: undefined };
      const keeps = Math.floor((byAge.maxAgeMs ?? Infinity) / (2 * day));
      for (const backup of expiredBackups(list, byAge)) expect(list.indexOf(backup)).toBeGreaterThan(keeps);
    }
  });

  it('by a right clock deletes what is too old or too much, and nothing else', () => {
    for (const { list, policy } of cases(0)) {
      const expired = expiredBackups(list, policy);
      const [newest] = list;
      const verified = list.find(({ isVerified }) => isVerified);
      for (const [index, backup] of list.entries()) {
        const isTooOld = (newest?.time ?? 0) - backup.time > (policy.maxAgeMs ?? Infinity);
        const isTooMuch = index >= (policy.maxCount ?? Infinity);
        const isKept = backup === newest || backup === verified;
        expect(expired.includes(backup)).toBe(!isKept && (isTooOld || isTooMuch));
      }
    }
  });
});
