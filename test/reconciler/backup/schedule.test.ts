import { describe, expect, it } from 'vitest';
import { isBackupDue, longestPeriodMs, nextBackupTime } from '../../../reconciler/backup/schedule.ts';

const at = (time: string): number => Date.parse(time);
const identity = 'team-a/prod';

function next(expression: string, after: string, timeZone?: string): string {
  return new Date(nextBackupTime({ expression, timeZone, identity }, at(after))).toISOString().replace(':00.000', '');
}

describe('the next time of a schedule', () => {
  it.each([
    ['30 2 * * *', '2026-11-21T00:00:00Z', undefined, '2026-11-21T02:30Z'],
    ['30 2 * * *', '2026-11-21T02:30:00Z', undefined, '2026-11-22T02:30Z'],
    ['30 2 * * *', '2026-11-21T02:29:59.999Z', undefined, '2026-11-21T02:30Z'],
    ['30 2 * * *', '2026-11-21T02:30:00.001Z', undefined, '2026-11-22T02:30Z'],
    ['*/15 8-9,20 * * *', '2026-11-21T09:45:00Z', undefined, '2026-11-21T20:00Z'],
    ['5/20 * * * *', '2026-11-21T09:25:00Z', undefined, '2026-11-21T09:45Z'],
    ['0 3 * * 0', '2026-11-21T00:00:00Z', undefined, '2026-11-22T03:00Z'],
    ['0 3 29 2 *', '2026-11-21T00:00:00Z', undefined, '2028-02-29T03:00Z'],
    ['0 3 1 * 0', '2026-11-23T00:00:00Z', undefined, '2026-11-29T03:00Z'],
    ['30 2 * * *', '2026-11-21T00:00:00Z', 'Asia/Kathmandu', '2026-11-21T20:45Z'],
  ])('of %s after %s (%s) is %s', (expression, after, timeZone, expected) => {
    expect(next(expression, after, timeZone)).toBe(expected);
  });

  it.each([
    ['makes up for a time that summer time skips', '30 2 * * *', '2026-03-28T12:00:00Z', '2026-03-29T01:00Z'],
    ['makes up for a skipped time of a list as well', '30 2,14 * * *', '2026-03-28T20:00:00Z', '2026-03-29T01:00Z'],
    ['returns to its hour the day after', '30 2 * * *', '2026-03-29T01:00:00Z', '2026-03-30T00:30Z'],
    ['takes the first of two equal times', '30 2 * * *', '2026-10-24T12:00:00Z', '2026-10-25T00:30Z'],
    ['leaves out the second of two equal times', '30 2 * * *', '2026-10-25T00:30:00Z', '2026-10-26T01:30Z'],
    [
      'continues every half hour in the hour that occurs twice',
      '*/30 * * * *',
      '2026-10-25T00:30:00Z',
      '2026-10-25T01:00Z',
    ],
  ])('%s', (_, expression, after, expected) => {
    expect(next(expression, after, 'Europe/Berlin')).toBe(expected);
  });

  it.each([
    ['0 0 30 2 *', undefined, 'schedule "0 0 30 2 *" never occurs'],
    ['@hourly-ish', undefined, 'must be @hourly, @daily, @weekly or five cron fields such as "30 2 * * *"'],
    ['0 30 2 * * *', undefined, 'schedule "0 30 2 * * *" must be @hourly'],
    ['61 2 * * *', undefined, 'schedule "61 2 * * *" must be @hourly'],
    ['0 9-3 * * *', undefined, 'schedule "0 9-3 * * *" must be @hourly'],
    ['@daily', 'Europe/Atlantis', 'time zone "Europe/Atlantis" is unknown: use an IANA name'],
  ])('is refused for %s in %s', (expression, timeZone, message) => {
    expect(() => next(expression, '2026-11-21T00:00:00Z', timeZone)).toThrow(message);
  });
});

it("an invalid schedule is refused with the parser's message as the cause", () => {
  expect(() => next('61 2 * * *', '2026-11-21T00:00:00Z')).toThrow(
    expect.objectContaining({ cause: expect.any(Error) as Error }) as Error,
  );
});

describe('@daily', () => {
  /** Minutes after 20:00, for many clusters. */
  const manyMinutes = () =>
    Array.from({ length: 2_000 }, (_, index) => {
      const schedule = { expression: '@daily', identity: `team/cluster-${index}` };
      return (nextBackupTime(schedule, at('2026-11-21T12:00:00Z')) - at('2026-11-21T20:00:00Z')) / 60_000;
    });

  it('is between 20:00 and 03:59 for every cluster', () => {
    const minutes = manyMinutes();
    expect(Math.min(...minutes)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...minutes)).toBeLessThan(480);
  });

  it('spreads clusters over all of these hours', () => {
    const minutes = manyMinutes();
    const perHour = Array.from({ length: 8 }, (_, hour) => minutes.filter((m) => Math.floor(m / 60) === hour).length);
    expect(Math.min(...perHour)).toBeGreaterThan(200);
    expect(Math.max(...perHour)).toBeLessThan(300);
  });

  it('is the same time every day, and the hours are those of the time zone', () => {
    const first = next('@daily', '2026-11-21T12:00:00Z');
    expect(next('@daily', `${first.slice(0, -1)}:00Z`).slice(11)).toBe(first.slice(11));
    const there = nextBackupTime(
      { expression: '@daily', timeZone: 'America/New_York', identity },
      at('2026-11-21T17:00:00Z'),
    );
    expect(there - nextBackupTime({ expression: '@daily', identity }, at('2026-11-21T12:00:00Z'))).toBe(5 * 3_600_000);
  });
});

it.each([
  ['@hourly', 60, 60],
  ['@weekly', 2_000, 7 * 8 * 60],
])('%s is at a time that differs from cluster to cluster', (expression, clusters, times) => {
  const found = Array.from({ length: 4 * clusters }, (_, index) =>
    nextBackupTime({ expression, identity: `team/cluster-${index}` }, at('2026-11-21T12:00:00Z')),
  );
  expect(new Set(found).size).toBeGreaterThan(0.8 * times);
  expect(Math.max(...found) - Math.min(...found)).toBeLessThan(longestPeriodMs({ expression, identity }));
});

describe('the longest time between two backups', () => {
  it.each([
    ['@daily', 24],
    ['@hourly', 1],
    ['@weekly', 168],
    ['0 3 * * *', 24],
    ['0 3,9 * * *', 18],
    ['0 * * * *', 1],
    ['0 3 * * 1-5', 72],
    ['0 3 1 * *', 31 * 24],
    ['0 3 29 2 *', 4 * 366 * 24 - 72],
    // Its first twelve gaps from the start of a year are days.
    ['0 0 1-13 1 *', (365 - 12) * 24],
  ])('of %s is %d hours', (expression, hours) => {
    expect(longestPeriodMs({ expression, identity }) / 3_600_000).toBe(hours);
  });
});

describe('a backup', () => {
  const schedule = { expression: '0 3 * * *', identity };
  it.each([
    ['was never taken', undefined, '2026-11-21T00:00:00Z', true],
    ['was taken and whose next time is in the future', '2026-11-21T03:00:10Z', '2026-11-22T02:59:59Z', false],
    ['was taken and whose next time has come', '2026-11-21T03:00:10Z', '2026-11-22T03:00:00Z', true],
    ['missed many times', '2026-10-01T03:00:10Z', '2026-11-22T01:00:00Z', true],
    ['was taken by a clock that was ahead', '2027-11-21T03:00:10Z', '2026-11-22T01:00:00Z', true],
    ['was taken by a clock that is more than five minutes ahead', '2026-11-22T01:05:01Z', '2026-11-22T01:00:00Z', true],
    ['was taken by a clock that is five minutes ahead', '2026-11-22T01:05:00Z', '2026-11-22T01:00:00Z', false],
  ])('that %s at %s is due at %s: %s', (_, last, now, expected) => {
    expect(isBackupDue(schedule, last === undefined ? undefined : at(last), at(now))).toBe(expected);
  });
});
