import { expect, it } from 'vitest';
import {
  AdoptionWaves,
  fleetMember,
  type FleetMember,
} from '../../../../reconciler/desired-state/revision/adoption-waves.ts';

const newest = 5;

const member = (key: string, revision: number, more: Partial<FleetMember> = {}): FleetMember => ({
  key,
  revision,
  isCanary: false,
  isReady: true,
  hasFailed: false,
  ...more,
});

function turn(waves: AdoptionWaves, key: string, fleet: readonly FleetMember[], concurrency = 1) {
  const revision = fleet.find((one) => one.key === key)?.revision ?? 0;
  return waves.turn({ key, revision, newest, fleet: () => fleet, concurrency });
}

it('leaves a release revision that is kept', () => {
  expect(turn(new AdoptionWaves(), 'a', [member('a', 3)])).toEqual({ kind: 'none' });
});

it('begins with as many as may adopt at a time, and goes on when these are Ready', () => {
  const waves = new AdoptionWaves();
  const before = ['a', 'b', 'c'].map((key) => member(key, 2));
  expect(turn(waves, 'a', before, 2)).toEqual({ kind: 'now' });
  expect(turn(waves, 'b', before, 2)).toEqual({ kind: 'now' });
  expect(turn(waves, 'c', before, 2)).toMatchObject({
    kind: 'later',
    message:
      'revision 2 is no longer kept, and the control plane adopts 5 after others: at most 2 at a time adopts it until it is Ready',
  });
  const during = [member('a', 5, { isReady: false }), member('b', 5, { isReady: false }), member('c', 2)];
  expect(turn(waves, 'c', during, 2)).toMatchObject({ kind: 'later' });
  const after = [member('a', 5), member('b', 5, { isReady: false }), member('c', 2)];
  expect(turn(waves, 'c', after, 2)).toEqual({ kind: 'now' });
});

it('waits for one that it has let begin, also in the reconciles before its status shows it', () => {
  const waves = new AdoptionWaves();
  const fleet = [member('a', 2), member('b', 2)];
  expect([turn(waves, 'a', fleet), turn(waves, 'a', fleet), turn(waves, 'b', fleet)].map(({ kind }) => kind)).toEqual([
    'now',
    'now',
    'later',
  ]);
});

it('stops while one that has adopted it is not Ready, also after a restart of the operator', () => {
  const fleet = [member('a', 5, { isReady: false }), member('b', 2)];
  expect(turn(new AdoptionWaves(), 'b', fleet)).toMatchObject({
    message: expect.stringContaining('at most 1 at a time'),
  });
});

it('stops after one that has gone back, also after a restart of the operator, and lets that one try the next one first', () => {
  const fleet = [member('a', 2, { isReady: false, hasFailed: true }), member('b', 2)];
  expect(turn(new AdoptionWaves(), 'b', fleet, 2)).toMatchObject({
    message: expect.stringContaining('it waits for a, which went back after such an adoption'),
  });
  const both = [...fleet, member('c', 2, { isReady: false, hasFailed: true })];
  expect(turn(new AdoptionWaves(), 'a', both)).toEqual({ kind: 'now' });
});

it('lets canaries begin', () => {
  const waves = new AdoptionWaves();
  const fleet = [member('a', 2), member('b', 1, { isCanary: true }), member('c', 3, { isCanary: true })];
  expect(turn(waves, 'a', fleet)).toMatchObject({ message: expect.stringContaining('the canary b') });
  expect(turn(waves, 'b', fleet)).toEqual({ kind: 'now' });
  const after = [member('a', 2), member('b', 5, { isCanary: true }), member('c', 3, { isCanary: true })];
  expect(turn(waves, 'a', after)).toEqual({ kind: 'now' });
});

it('names those whose turn has come, as many as may adopt at a time, and none that was deleted', () => {
  const waves = new AdoptionWaves();
  const keys = ['a', 'b', 'c', 'd', 'e'];
  const before = keys.map((key) => member(key, 2));
  const next = (fleet: readonly FleetMember[]) => waves.next({ newest, fleet: () => fleet, concurrency: 2 });
  for (const key of keys) turn(waves, key, before, 2);
  expect(next(before)).toEqual([]);
  const after = [member('a', 5), member('b', 5), ...before.slice(2)];
  expect(next(after)).toEqual(['c', 'd']);
  // both may stand still
  expect(next(after)).toEqual(['e', 'c']);
  waves.forget('c');
  expect(next(after)).toEqual(['d', 'e']);
  expect([turn(waves, 'd', after, 2), turn(waves, 'e', after, 2)]).toEqual([{ kind: 'now' }, { kind: 'now' }]);
  expect(waves.isAwaited).toBe(false);
});

it('reads what the operator has reported', () => {
  const metadata = { name: 'c1', namespace: 'team', labels: { 'controlplane.cluster.x-k8s.io/canary': '' } };
  const ready = { type: 'Ready', status: 'True', reason: 'Ready', message: '', lastTransitionTime: '' } as const;
  const object = { apiVersion: 'v1', kind: 'x', metadata };
  expect(fleetMember({ ...object, status: { releaseRevision: 2, conditions: [ready] } })).toEqual({
    key: 'team/c1',
    isCanary: true,
    revision: 2,
    isReady: true,
    hasFailed: false,
  });
  const failed = { ...ready, type: 'SpecAccepted', status: 'False', reason: 'AdoptionFailed' } as const;
  expect(fleetMember({ ...object, status: { conditions: [ready, failed] } })).toMatchObject({ hasFailed: true });
  expect(fleetMember({ ...object, metadata: { name: 'c1', namespace: 'team' } })).toEqual({
    key: 'team/c1',
    isCanary: false,
    revision: undefined,
    isReady: false,
    hasFailed: false,
  });
});
