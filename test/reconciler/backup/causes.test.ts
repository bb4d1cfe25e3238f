import { describe, expect, it } from 'vitest';
import {
  type BackupCause,
  changeCause,
  deletionCause,
  requestCause,
  satisfiedCauses,
} from '../../../reconciler/backup/causes.ts';
import type { BackupName } from '../../../constructs/cluster/backup-names.ts';

const hour = 3_600_000;
const change = changeCause('Kubernetes 1.35 to 1.36');
const request = requestCause('before the big change');
const deletion = deletionCause('uid');

describe('an existing backup', () => {
  type Case = [what: string, takenFor: BackupCause[], ageMs: number, satisfied: BackupCause[], lastKnown?: BackupName];
  const now = 2_000 * hour;
  const known = (revision: number, time = now - 5): BackupName => ({ time, revision });
  const cases: readonly Case[] = [
    ['satisfies no cause that it was not taken for', [], 0, []],
    ['satisfies the causes that it was taken for', [request, change], 0, [change, request]],
    ['satisfies a request and a deletion at any age', [request, deletion], 1_000 * hour, [request, deletion]],
    ['satisfies a change of version for an hour', [change], hour, [change]],
    ['does not satisfy a change of version after an hour', [change], hour + 1, []],
    ['satisfies a change of version if it is newer than those of the status', [change], 5, [change], known(1)],
    ['does not satisfy a change that was withdrawn, whose backup the status knows', [change], 5, [], known(2)],
    ['does not satisfy a change of version by a clock that is more than an hour ahead', [change], -hour - 1, []],
    ['satisfies a change of version by a clock that is an hour ahead', [change], -hour, [change]],
    [
      'is newer than that of the status by its revision, whatever their times',
      [change],
      5,
      [change],
      known(1, now + hour),
    ],
    ['is newer by its time where the revisions are the same', [change], 5, [change], known(2, now - 6)],
    ['satisfies a request also if the status knows it', [request], 5, [request], known(2)],
  ];
  it.each(cases)('%s', (_, takenFor, ageMs, satisfied, lastKnown) => {
    const backup = { takenFor, time: now - ageMs, revision: 2 };
    expect(satisfiedCauses([change, request, deletion], backup, { now, lastKnown })).toEqual(satisfied);
  });
});

it('a request is identified by the part of its text that the status stores', () => {
  expect(requestCause('x'.repeat(300))).toBe(`request:${'x'.repeat(256)}`);
  expect(requestCause('monday')).not.toBe(requestCause('tuesday'));
});
