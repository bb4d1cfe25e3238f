import { expect, it } from 'vitest';
import { type SignsOfLife, whyDead } from '../../../reconciler/operator/liveness.ts';

const minute = 60_000;
const lively: SignsOfLife = { silentMs: 0, stuckMs: 0, undoneMs: 0, stillest: undefined };

it.each<[string, Partial<SignsOfLife>, string | undefined]>([
  ['that hears, moves and works lives', {}, undefined],
  ['that has missed two bookmarks lives', { silentMs: 2.5 * minute, stuckMs: 2.5 * minute }, undefined],
  [
    'whose API server was away for almost ten minutes lives',
    { silentMs: 10 * minute - 1, stuckMs: 20_000, undoneMs: 15_000 },
    undefined,
  ],
  [
    'whose watches have all received nothing for ten minutes is dead, although each is opened again and again',
    { silentMs: 10 * minute, stuckMs: 0 },
    'no watch of the management cluster has received anything for 10 minutes',
  ],
  [
    'of which one watch does nothing any more is dead, although the others live',
    { silentMs: 0, stuckMs: 10 * minute },
    'a watch of the management cluster has neither gone on nor failed for 10 minutes',
  ],
  [
    'of which one watch has done nothing for almost ten minutes lives',
    { silentMs: 0, stuckMs: 10 * minute - 1 },
    undefined,
  ],
  ['of which one reconcile takes long lives', { undoneMs: 10 * minute - 1 }, undefined],
  [
    'that hears, and does nothing of what is due, is dead',
    { undoneMs: 10.9 * minute },
    'the queue has begun and ended nothing for 10 minutes, although work is due',
  ],
  [
    'of which one reconcile has stood still for almost ten minutes lives',
    { stillest: { key: 'team/c1', ms: 10 * minute - 1 } },
    undefined,
  ],
  [
    'of which one reconcile stands still is dead, although all others go on',
    { stillest: { key: 'team/c1', ms: 10 * minute } },
    'the reconcile of team/c1 has neither done anything nor ended for 10 minutes',
  ],
  [
    'names the reconcile that stands still after what stands still for all',
    { undoneMs: 10 * minute, stillest: { key: 'team/c1', ms: 12 * minute } },
    'the queue has begun and ended nothing for 10 minutes, although work is due',
  ],
])('an operator %s', (_, signs, expected) => {
  expect(whyDead({ ...lively, ...signs })).toBe(expected);
});
