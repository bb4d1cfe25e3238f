import { describe, expect, it } from 'vitest';
import type { StoredBackup } from '../../../../reconciler/backup/cluster-backups.ts';
import {
  planVerification,
  type VerificationRules,
  type VerificationSituation,
} from '../../../../reconciler/backup/verify/plan.ts';

const hour = 3_600_000;
const now = Date.parse('2026-11-21T12:00:00Z');

/** One backup an hour, the newest an hour old: `.` a plain one, `v` a verified one. */
function backups(drawn: string): StoredBackup[] {
  return drawn.split('').map((mark, index) => ({
    time: now - (index + 1) * hour,
    revision: 1000 - index,
    isVerified: mark === 'v',
  }));
}

const rules: VerificationRules = { every: 3, schedule: undefined, retention: {} };
const daily = { expression: '0 6 * * *', identity: 'team/c1' };
const newest = { kind: 'due', backup: { time: now - hour, revision: 1000 } };
const rest = { kind: 'idle', next: undefined };

const decide = (
  drawn: string,
  changes: Partial<VerificationRules> = {},
  situation: Partial<VerificationSituation> = {},
) =>
  planVerification(
    { ...rules, ...changes },
    { backups: backups(drawn), lastVerification: undefined, now, ...situation },
  );

describe('a trial restore', () => {
  it.each([
    ['is not due without a backup', '', {}, { kind: 'noBackup' }],
    ['is due for the first backup', '.', {}, newest],
    ['is due when none of many was good', '.....', {}, newest],
    ['is not due again for a backup that was good', 'v..', {}, rest],
    ['waits for so many backups', '..v', {}, rest],
    ['is due after so many backups', '...v', {}, newest],
    ['is due after more than so many, when an earlier trial failed', '.....v', {}, newest],
    ['is due for every backup, when asked for', '.v', { every: 1 }, newest],
    ['counts from the newest good one', '..v....v', {}, rest],
  ] as const)('%s', (_, drawn, changes, expected) => expect(decide(drawn, changes)).toEqual(expected));

  it.each([
    ['so few are kept that the number is never reached', '..v', { retention: { maxCount: 2 } }, newest],
    ['only others than the last good one are too many', '.v..', { retention: { maxCount: 2 } }, rest],
    ['still enough are kept', '..v', { retention: { maxCount: 3 } }, rest],
    ['the last good one is older than others may be', '.v', { retention: { maxAgeMs: 1.5 * hour } }, newest],
  ] as const)('%s', (_, drawn, changes, expected) => {
    expect(decide(drawn, { every: 100, ...changes })).toEqual(expected);
  });

  it.each([
    ['is due when its time has passed since the last one', '2026-11-21T05:59:00Z', newest],
    [
      'is not due before, and says when',
      '2026-11-21T06:00:00Z',
      { kind: 'idle', next: Date.parse('2026-11-22T06:00:00Z') },
    ],
    ['is due when nothing is known of the last one', undefined, newest],
  ] as const)('on a schedule %s', (_, lastVerification, expected) => {
    const at = lastVerification === undefined ? undefined : Date.parse(lastVerification);
    expect(decide('.v', { schedule: daily }, { lastVerification: at })).toEqual(expected);
  });

  it('on a schedule is due from its very minute on', () => {
    const noon = { ...daily, expression: '0 12 * * *' };
    expect(decide('.v', { schedule: noon }, { lastVerification: now - hour })).toEqual(newest);
    expect(decide('.v', { schedule: noon }, { lastVerification: now - hour, now: now - 1 })).toEqual({
      kind: 'idle',
      next: now,
    });
  });

  it('on a schedule leaves out a backup that was good already', () => {
    expect(decide('v.', { schedule: daily }, { lastVerification: 0 })).toEqual(rest);
  });

  it('tells a wrong schedule in words for the user', () => {
    expect(() => decide('.v', { schedule: { ...daily, expression: '0 6 30 2 *' } })).toThrow(/never occurs/);
  });
});
