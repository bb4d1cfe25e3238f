import { describe, expect, it } from 'vitest';
import {
  type KeyRotationState,
  type KeyRotationStep,
  planKeyStep,
} from '../../../../reconciler/certificates/service-account-key/plan-key-rotation.ts';
import { now } from '../../../support/scope.ts';

const later = new Date(now.getTime() + 1000);
const earlier = new Date(now.getTime() - 1000);
const settled: KeyRotationState = {
  keys: ['old'],
  successor: undefined,
  isControlled: true,
  isRequested: false,
  expiries: {},
  now,
};
const own = { key: 'new', isControlled: true };
const users = { key: 'new', isControlled: false };

describe('the next step of a rotation of service account keys', () => {
  it.each<[string, Partial<KeyRotationState>, KeyRotationStep]>([
    ['is none if one key signs and no rotation is requested', {}, { kind: 'settled' }],
    ['creates a successor', { isRequested: true }, { kind: 'begin' }],
    ['distributes the successor', { isRequested: true, successor: own }, { kind: 'distribute', keys: ['old', 'new'] }],
    [
      'makes it sign when all API servers accept it',
      { isRequested: true, successor: own, keys: ['old', 'new'] },
      { kind: 'sign', keys: ['new', 'old'] },
    ],
    [
      'records when the last token of the old key expires',
      { isRequested: true, successor: own, keys: ['new', 'old'] },
      { kind: 'schedule', keys: ['old'] },
    ],
    [
      'does so also if the request was reverted meanwhile',
      { successor: own, keys: ['new', 'old'] },
      { kind: 'schedule', keys: ['old'] },
    ],
    [
      'deletes the second copy of the signing key',
      { successor: own, keys: ['new', 'old'], expiries: { old: later } },
      { kind: 'discard' },
    ],
    [
      'waits until old tokens have expired',
      { keys: ['new', 'old'], expiries: { old: later } },
      { kind: 'wait', until: later },
    ],
    [
      'then retires the old key',
      { keys: ['new', 'old'], expiries: { old: earlier } },
      { kind: 'retire', keys: ['new'], retired: ['old'] },
    ],
    [
      'retires the old key from the exact time at which its last token expires',
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
      'withdraws a key while it is being distributed',
      { successor: own, keys: ['old', 'new'] },
      { kind: 'withdraw', keys: ['old'] },
    ],
    ['discards a successor that no API server has', { successor: own }, { kind: 'discard' }],
    [
      'creates a third key while API servers still accept tokens of the first',
      { isRequested: true, keys: ['new', 'old'], expiries: { old: later } },
      { kind: 'begin' },
    ],
    [
      'distributes the third key in addition',
      {
        isRequested: true,
        successor: { key: 'third', isControlled: true },
        keys: ['new', 'old'],
        expiries: { old: later },
      },
      { kind: 'distribute', keys: ['new', 'old', 'third'] },
    ],
    [
      'retires each key when its tokens have expired',
      { keys: ['third', 'new', 'old'], expiries: { old: earlier, new: later } },
      { kind: 'retire', keys: ['third', 'new'], retired: ['old'] },
    ],
    [
      'schedules the retirement of keys whose successor was lost, or that a backup has restored',
      { keys: ['new', 'old'] },
      { kind: 'schedule', keys: ['old'] },
    ],
    ['does not change the keys of a user', { isControlled: false, keys: ['new', 'old'] }, { kind: 'settled' }],
    ["waits for a user's successor", { isControlled: false, isRequested: true }, { kind: 'awaitSuccessor' }],
    [
      "distributes a user's successor",
      { isControlled: false, isRequested: true, successor: users },
      { kind: 'distribute', keys: ['old', 'new'] },
    ],
    [
      "never removes a user's successor when it signs",
      { isControlled: false, successor: users, keys: ['new'] },
      { kind: 'settled' },
    ],
    ["never deletes a user's successor", { isControlled: false, successor: users }, { kind: 'settled' }],
    [
      'waits for another one for the next rotation',
      { isControlled: false, isRequested: true, successor: users, keys: ['new'] },
      { kind: 'awaitSuccessor' },
    ],
    [
      "never withdraws a user's key that has signed before",
      { isControlled: false, successor: users, keys: ['old', 'new'], expiries: { new: later } },
      { kind: 'wait', until: later },
    ],
  ])('%s', (_, state, step) => {
    expect(planKeyStep({ ...settled, ...state })).toEqual(step);
  });
});
