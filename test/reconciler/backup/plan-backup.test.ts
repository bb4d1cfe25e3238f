import { describe, expect, it } from 'vitest';
import type { WorkState } from '../../../reconciler/engine/tasks/background-work.ts';
import { requestCause } from '../../../reconciler/backup/causes.ts';
import { type BackupInput, backOffMs, planBackup } from '../../../reconciler/backup/plan-backup.ts';
import { InvalidConfiguration } from '../../../reconciler/engine/outcome.ts';

const minute = 60_000;
const noon = Date.parse('2026-11-21T12:00:00Z');
const nightBefore = Date.parse('2026-11-21T02:30:00Z');

const situation: BackupInput = {
  schedule: { expression: '30 2 * * *', identity: 'team/c1' },
  now: noon,
  lastBackup: nightBefore,
  causes: [],
  settings: { secret: 's3' },
  work: { kind: 'idle' },
  hasMember: true,
  hasContent: true,
};

const decide = (changes: Partial<BackupInput>) => planBackup({ ...situation, ...changes });
const due = { lastBackup: undefined };
const requested = { causes: [requestCause('before the big change')] };

/** Work that failed for the causes of the situation. */
function failed(changes: Partial<BackupInput>, failures = 1): WorkState {
  const decision = decide({ ...changes, work: { kind: 'idle' } });
  if (decision.kind !== 'start') throw new Error(decision.kind);
  return { kind: 'failed', inputsKey: decision.inputsKey, at: new Date(noon), error: new Error('down'), failures };
}

describe('a backup', () => {
  it.each<[string, Partial<BackupInput>, object]>([
    ['is not taken before its time', {}, { kind: 'idle', nextTime: Date.parse('2026-11-22T02:30:00Z') }],
    ['is taken if there is none', due, { kind: 'start' }],
    ['is not taken before the cluster has content', { ...due, hasContent: false }, { kind: 'waitForContent' }],
    ['is taken on request before the cluster has content', { ...requested, hasContent: false }, { kind: 'start' }],
    ['is taken when it is due', { now: Date.parse('2026-11-22T02:30:00Z') }, { kind: 'start' }],
    ['is taken once for several missed times', { now: noon + 5 * 24 * 60 * minute }, { kind: 'start' }],
    ['is taken on request', requested, { kind: 'start' }],
    [
      'is taken if the last one is by a clock that was a year ahead',
      { lastBackup: noon + 365 * 24 * 60 * minute },
      { kind: 'start' },
    ],
    ['is not scheduled by a clock that is wrong', { ...due, isClockWrong: true }, { kind: 'waitForClock' }],
    ['is not scheduled by a clock that is wrong, also not for later', { isClockWrong: true }, { kind: 'waitForClock' }],
    ['is taken on request whatever the clock', { ...requested, isClockWrong: true }, { kind: 'start' }],
    [
      'is not scheduled for later by the time of the last one',
      { lastBackup: noon + minute },
      { kind: 'idle', nextTime: Date.parse('2026-11-22T02:30:00Z') },
    ],
    ['is not started while no etcd member is ready', { ...due, hasMember: false }, { kind: 'waitForMembers' }],
    [
      'is not started while another one runs, whatever its causes',
      {
        ...due,
        ...requested,
        work: { kind: 'running', inputsKey: 'other', since: new Date(noon), progress: '1 of about 2 MiB' },
      },
      { kind: 'running', progress: '1 of about 2 MiB' },
    ],
  ])('%s', (_, changes, expected) => {
    expect(decide(changes)).toMatchObject(expected);
  });

  it('that failed is retried after a minute, and not before', () => {
    const work = failed(due);
    expect(decide({ ...due, work, now: noon + minute - 1 })).toMatchObject({
      kind: 'backOff',
      error: new Error('down'),
      retryTime: noon + minute,
    });
    expect(decide({ ...due, work, now: noon + minute })).toMatchObject({ kind: 'start' });
  });

  it.each<[string, Partial<BackupInput>]>([
    ['if a user has requested one since', requested],
    ['if the spec has changed', { settings: { secret: 'other' } }],
  ])('that failed is retried at once %s', (_, changes) => {
    expect(decide({ ...due, ...changes, work: failed(due, 20) })).toMatchObject({ kind: 'start' });
  });

  it('that failed waits also if the same causes come in another order', () => {
    const [one, other] = [requestCause('one'), requestCause('other')];
    const work = failed({ causes: [one, other] });
    expect(decide({ causes: [other, one], work })).toMatchObject({ kind: 'backOff' });
  });

  it('that failed is forgotten if its causes are gone', () => {
    expect(decide({ work: failed(requested) })).toMatchObject({ kind: 'idle' });
  });

  it.each([
    [1, 1],
    [2, 2],
    [3, 4],
    [6, 32],
    [7, 60],
    [2_000, 60],
  ])('that failed %d times is retried after %d minutes', (failures, minutes) => {
    expect(backOffMs(new Error('down'), failures)).toBe(minutes * minute);
  });

  it('that failed because of a Secret is retried each minute', () => {
    expect(backOffMs(new InvalidConfiguration('BackupSecretInvalid', 'missing'), 9)).toBe(minute);
  });
});

describe('a backup that runs or waits for its turn', () => {
  const day = 24 * 60 * minute;
  const dueAt = Date.parse('2026-11-22T02:30:00Z');
  const waiting = (since: number): WorkState => ({
    kind: 'running',
    inputsKey: 'any',
    since: new Date(since),
    progress: 'waiting for its turn',
  });

  it.each<[string, Partial<BackupInput>, number | undefined]>([
    [
      'a period after the moment at which it is due',
      { now: dueAt, createdAt: dueAt - 100 * day, work: waiting(dueAt) },
      dueAt + day,
    ],
    ['a period after it was due', { now: dueAt + minute, work: waiting(dueAt) }, dueAt + day],
    [
      'an hour after it began, if the operator was away when it was due',
      { now: dueAt + 3 * day, work: waiting(dueAt + 3 * day) },
      dueAt + 3 * day + 60 * minute,
    ],
    [
      'a period after the control plane was created, if it is the first one',
      { ...due, now: noon + 2 * minute, createdAt: noon, work: waiting(noon + minute) },
      noon + day,
    ],
    [
      'a period after it began, where that is less than an hour',
      { schedule: { ...situation.schedule, expression: '*/10 * * * *' }, now: dueAt + day, work: waiting(dueAt + day) },
      dueAt + day + 10 * minute,
    ],
    [
      'a period after the control plane was created, if the last one is that of a clock that was ahead',
      { ...due, now: noon + 2 * minute, lastBackup: noon + 365 * day, createdAt: noon, work: waiting(noon + minute) },
      noon + day,
    ],
    ['never, if it was only requested', { ...requested, work: waiting(noon) }, undefined],
  ])('is late %s', (_, changes, overdueAt) => {
    expect(decide(changes)).toEqual({ kind: 'running', progress: 'waiting for its turn', overdueAt });
  });
});
