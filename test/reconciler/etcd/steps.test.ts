import { expect, it } from 'vitest';
import { type EtcdStep, isDisruptive } from '../../../reconciler/etcd/steps.ts';

const kinds: readonly [kind: EtcdStep['kind'], isDisruptive: boolean][] = [
  ['remove', true],
  ['discardVolume', true],
  ['replacePod', true],
  ['moveLeader', true],
  ['defragment', true],
  ['addLearner', false],
  ['promote', false],
  ['markVolume', false],
  ['reserveVolume', false],
  ['compact', false],
  ['disarm', false],
];

it.each(kinds)('step %s is planned again from the newest pods and claims: %s', (kind, expected) => {
  expect(isDisruptive({ kind })).toBe(expected);
});
