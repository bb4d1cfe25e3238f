import { expect, it } from 'vitest';
import { hostedControlPlaneObject } from '../../support/scope.ts';
import { type Cause, priorityOf } from '../../../reconciler/operator/controller.ts';

const now = Date.parse('2026-11-29T12:00:00Z');

/** @param states of Ready and of other conditions, `T` for True; undefined before the first reconcile */
function objectWith(states: string | undefined, age: string | undefined = '2026-11-29T11:59:00Z', more: object = {}) {
  const conditions = states?.split('').map((state, index) => ({
    type: index === 0 ? 'Ready' : `Step${index}`,
    status: state === 'T' ? 'True' : 'False',
    reason: 'Any',
    message: '',
    lastTransitionTime: '2026-11-29T11:59:00Z',
  }));
  const metadata = { name: 'c1', namespace: 'team', creationTimestamp: age, ...more };
  return { ...hostedControlPlaneObject({ metadata }), status: conditions && { conditions } } as Parameters<
    typeof priorityOf
  >[1];
}

/** From the one that may wait to the one that is next. */
const order: readonly [what: string, cause: Cause, object: ReturnType<typeof objectWith>][] = [
  ['nothing has happened to one that is ready', 'resync', objectWith('TTT')],
  ['one that is ready was there when the operator started', 'listed', objectWith('TTT')],
  ['a pod of one that is ready has changed', 'event', objectWith('TTT')],
  ['a user has changed one that is ready', 'request', objectWith('TTT')],
  ['one that has just begun', 'event', objectWith('FFFF')],
  ['one that is further', 'resync', objectWith('FTFF')],
  ['one that is nearly ready', 'event', objectWith('FTTT')],
];

it('brings up the most advanced first, then does what users ask for, and what nobody waits for at the end', () => {
  const priorities = order.map(([, cause, object]) => priorityOf(cause, object, now));
  expect(priorities).toEqual([...new Set(priorities)].sort((one, other) => one - other));
});

it.each<[string, Cause, ReturnType<typeof objectWith>]>([
  ['has no status yet', 'request', objectWith(undefined)],
  ['is gone', 'request', undefined],
  ['is deleted', 'request', objectWith('FTT', undefined, { deletionTimestamp: '2026-11-29T11:59:30Z' })],
  ['has not become ready within an hour', 'request', objectWith('FTT', '2026-11-29T10:59:00Z')],
  ['has no time of creation that can be read', 'request', objectWith('FTT', 'soon')],
])('gives one that %s no place among those that are brought up', (_, cause, object) => {
  expect(priorityOf(cause, object, now)).toBe(priorityOf(cause, objectWith('TTT'), now));
});
