import { expect, it } from 'vitest';
import { type EtcdStep, isDisruptive } from '../../../reconciler/etcd/steps.ts';

const kinds: readonly [kind: EtcdStep['kind'], isDisruptive: boolean][] = [
  ['Remove', true],
  ['DiscardVolume', true],
  ['ReplacePod', true],
  ['MoveLeader', true],
  ['Defragment', true],
  ['AddLearner', false],
  ['Promote', false],
  ['MarkVolume', false],
  ['ReserveVolume', false],
  ['Compact', false],
  ['Disarm', false],
];

it.each(kinds)('step %s is planned again from the newest pods and claims: %s', (kind, expected) => {
  expect(isDisruptive({ kind })).toBe(expected);
});
