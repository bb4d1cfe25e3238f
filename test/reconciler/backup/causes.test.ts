import { describe, expect, it } from 'vitest';
import {
  type BackupCause,
  changeCause,
  deletionCause,
  requestCause,
  satisfiedCauses,
} from '../../../reconciler/backup/causes.ts';

const hour = 3_600_000;
const change = changeCause('Kubernetes 1.35 to 1.36');
const request = requestCause('before the big change');
const deletion = deletionCause('uid');

describe('a backup that is there', () => {
  const cases: readonly [what: string, takenFor: readonly BackupCause[], ageMs: number, satisfied: BackupCause[]][] = [
    ['is one for nothing that it was not taken for', [], 0, []],
    ['is one for what it was taken for', [request, change], 0, [change, request]],
    ['is one for a request and a deletion however old it is', [request, deletion], 1_000 * hour, [request, deletion]],
    ['is one for a change of version for an hour', [change], hour, [change]],
    ['is none for a change of version after an hour', [change], hour + 1, []],
  ];
  it.each(cases)('%s', (_, takenFor, ageMs, satisfied) => {
    expect(satisfiedCauses([change, request, deletion], takenFor, ageMs)).toEqual(satisfied);
  });
});

it('a request is known by no more of its text than the status takes', () => {
  expect(requestCause('x'.repeat(300))).toBe(`request:${'x'.repeat(256)}`);
  expect(requestCause('monday')).not.toBe(requestCause('tuesday'));
});
