import { describe, expect, it } from 'vitest';
import type { StoredBackup } from '../../../../reconciler/backup/cluster-backups.ts';
import {
  planVerification,
  type VerificationRules,
  type VerificationInput,
} from '../../../../reconciler/backup/verify/plan-verification.ts';

const hour = 3_600_000;
const now = Date.parse('2026-11-21T12:00:00Z');

/** One backup an hour, the newest an hour old: `.` an unverified one, `v` a verified one. */
function backups(drawn: string): StoredBackup[] {
  return drawn.split('').map((mark, index) => ({
    time: now - (index + 1) * hour,
    revision: 1000 - index,
    isVerified: mark === 'v',
  }));
}

const rules: VerificationRules = { every: 3, schedule: undefined, retention: { periodMs: hour } };
const daily = { expression: '0 6 * * *', identity: 'team/c1' };
const newest = { kind: 'due', backup: { time: now - hour, revision: 1000 } };
const rest = { kind: 'idle', next: undefined };

const decide = (drawn: string, changes: Partial<VerificationRules> = {}, situation: Partial<VerificationInput> = {}) =>
  planVerification(
    { ...rules, ...changes },
    { backups: backups(drawn), lastVerification: undefined, now, ...situation },
  );

describe('a verification', () => {
  it.each([
    ['is not due without a backup', '', {}, { kind: 'noBackup' }],
    ['is due for the first backup', '.', {}, newest],
    ['is due if none of many was verified', '.....', {}, newest],
    ['is not due again for a verified backup', 'v..', {}, rest],
    ['waits for the configured number of backups', '..v', {}, rest],
    ['is due after the configured number of backups', '...v', {}, newest],
    ['is due after more than this number, if an earlier verification failed', '.....v', {}, newest],
    ['is due for every backup, if configured', '.v', { every: 1 }, newest],
    ['counts from the newest verified one', '..v....v', {}, rest],
  ] as const)('%s', (_, drawn, changes, expected) => expect(decide(drawn, changes)).toEqual(expected));

  it.each([
    [
      'is due if retention keeps so few that the number is never reached',
      '..v',
      { retention: { maxCount: 2 } },
      newest,
    ],
    [
      'is not due if retention deletes only others than the last verified one',
      '.v..',
      { retention: { maxCount: 2 } },
      rest,
    ],
    ['is not due while retention keeps enough', '..v', { retention: { maxCount: 3 } }, rest],
    [
      'is due if the last verified one is older than retention allows for others',
      '.v',
      { retention: { maxAgeMs: 0.5 * hour } },
      newest,
    ],
  ] as const)('%s', (_, drawn, changes, expected) => {
    const retention = { periodMs: hour, ...changes.retention };
    expect(decide(drawn, { every: 100, retention })).toEqual(expected);
  });

  it.each([
    ['is due if its time has passed since the last one', '2026-11-21T05:59:00Z', newest],
    [
      'is not due before, and returns the next time',
      '2026-11-21T06:00:00Z',
      { kind: 'idle', next: Date.parse('2026-11-22T06:00:00Z') },
    ],
    ['is due if the last one is unknown', undefined, newest],
    ['is due if the last one was by a clock that was ahead', '2026-11-21T12:05:01Z', newest],
  ] as const)('on a schedule %s', (_, lastVerification, expected) => {
    const at = lastVerification === undefined ? undefined : Date.parse(lastVerification);
    expect(decide('.v', { schedule: daily }, { lastVerification: at })).toEqual(expected);
  });

  it('on a schedule is due from the exact minute on', () => {
    const noon = { ...daily, expression: '0 12 * * *' };
    expect(decide('.v', { schedule: noon }, { lastVerification: now - hour })).toEqual(newest);
    expect(decide('.v', { schedule: noon }, { lastVerification: now - hour, now: now - 1 })).toEqual({
      kind: 'idle',
      next: now,
    });
  });

  it('on a schedule is not due for a verified backup', () => {
    expect(decide('v.', { schedule: daily }, { lastVerification: 0 })).toEqual(rest);
  });

  it('reports a wrong schedule in words for the user', () => {
    expect(() => decide('.v', { schedule: { ...daily, expression: '0 6 30 2 *' } })).toThrow(/never occurs/);
  });
});
