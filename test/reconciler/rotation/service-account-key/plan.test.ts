import { describe, expect, it } from 'vitest';
import {
  type KeyRotationState,
  type KeyRotationStep,
  planKeyStep,
} from '../../../../reconciler/rotation/service-account-key/plan.ts';
import { now } from '../../../support/scope.ts';

const later = new Date(now.getTime() + 1000);
const earlier = new Date(now.getTime() - 1000);
const settled: KeyRotationState = {
  keys: ['old'],
  successor: undefined,
  isOurs: true,
  isRequested: false,
  expiries: {},
  now,
};
const ours = { key: 'new', isOurs: true };
const users = { key: 'new', isOurs: false };

describe('the next step of a rotation of service account keys', () => {
  it.each<[string, Partial<KeyRotationState>, KeyRotationStep]>([
    ['is none where one key signs and nobody asks for another', {}, { kind: 'settled' }],
    ['makes a successor', { isRequested: true }, { kind: 'begin' }],
    [
      'lets tokens of it be accepted',
      { isRequested: true, successor: ours },
      { kind: 'distribute', keys: ['old', 'new'] },
    ],
    [
      'lets it sign when all accept them',
      { isRequested: true, successor: ours, keys: ['old', 'new'] },
      { kind: 'sign', keys: ['new', 'old'] },
    ],
    [
      'notes when the last token of the old one expires',
      { isRequested: true, successor: ours, keys: ['new', 'old'] },
      { kind: 'schedule', keys: ['old'] },
    ],
    [
      'does so too when the request was taken back meanwhile',
      { successor: ours, keys: ['new', 'old'] },
      { kind: 'schedule', keys: ['old'] },
    ],
    [
      'deletes the second copy of the key that signs',
      { successor: ours, keys: ['new', 'old'], expiries: { old: later } },
      { kind: 'discard' },
    ],
    [
      'waits until old tokens have expired',
      { keys: ['new', 'old'], expiries: { old: later } },
      { kind: 'wait', until: later },
    ],
    [
      'retires the old key then',
      { keys: ['new', 'old'], expiries: { old: earlier } },
      { kind: 'retire', keys: ['new'], retired: ['old'] },
    ],
    [
      'retires the old key from the very instant on at which its last token expires',
      { keys: ['new', 'old'], expiries: { old: now } },
      { kind: 'retire', keys: ['new'], retired: ['old'] },
    ],
    [
      'waits for the first of two old keys whose last token expires',
      { keys: ['third', 'new', 'old'], expiries: { old: later, new: new Date(later.getTime() + 1) } },
      { kind: 'wait', until: later },
    ],
    [
      'waits until no API server has it any more',
      { keys: ['new'], expiries: { old: earlier } },
      { kind: 'forget', keys: ['old'] },
    ],
    [
      'goes back while trust is distributed',
      { successor: ours, keys: ['old', 'new'] },
      { kind: 'withdraw', keys: ['old'] },
    ],
    ['gives up a successor that nobody knows of', { successor: ours }, { kind: 'discard' }],
    [
      'makes a third key while tokens of the first are accepted still',
      { isRequested: true, keys: ['new', 'old'], expiries: { old: later } },
      { kind: 'begin' },
    ],
    [
      'lets the third key be accepted besides',
      { isRequested: true, successor: { key: 'third', isOurs: true }, keys: ['new', 'old'], expiries: { old: later } },
      { kind: 'distribute', keys: ['new', 'old', 'third'] },
    ],
    [
      'retires each key when its time has come',
      { keys: ['third', 'new', 'old'], expiries: { old: earlier, new: later } },
      { kind: 'retire', keys: ['third', 'new'], retired: ['old'] },
    ],
    [
      'takes care of keys of ours whose successor was lost, or that a backup has brought',
      { keys: ['new', 'old'] },
      { kind: 'schedule', keys: ['old'] },
    ],
    ['leaves the keys of a user alone', { isOurs: false, keys: ['new', 'old'] }, { kind: 'settled' }],
    ['waits for a successor of theirs', { isOurs: false, isRequested: true }, { kind: 'awaitSuccessor' }],
    [
      'takes it when it is there',
      { isOurs: false, isRequested: true, successor: users },
      { kind: 'distribute', keys: ['old', 'new'] },
    ],
    ['never takes it away when it signs', { isOurs: false, successor: users, keys: ['new'] }, { kind: 'settled' }],
    ['never deletes it', { isOurs: false, successor: users }, { kind: 'settled' }],
    [
      'wants another one for the next rotation',
      { isOurs: false, isRequested: true, successor: users, keys: ['new'] },
      { kind: 'awaitSuccessor' },
    ],
    [
      'never withdraws a key of theirs that has signed before',
      { isOurs: false, successor: users, keys: ['old', 'new'], expiries: { new: later } },
      { kind: 'wait', until: later },
    ],
  ])('%s', (_, state, step) => {
    expect(planKeyStep({ ...settled, ...state })).toEqual(step);
  });
});
