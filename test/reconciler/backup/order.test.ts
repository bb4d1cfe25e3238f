import { describe, expect, it } from 'vitest';
import { isNewer, newestFirst, takenBefore } from '../../../reconciler/backup/order.ts';

const at = (time: number, revision: number, owner?: string) => ({ time, revision, owner });
const names = (list: readonly { time: number; revision: number }[]) =>
  list.map(({ time, revision }) => `${time}/${revision}`).join(' ');

describe('the order of backups', () => {
  it.each([
    ['by revision', [at(1, 10), at(2, 20), at(3, 30)], [], '3/30 2/20 1/10'],
    ['by revision, although the clock was ahead', [at(900, 10), at(2, 20), at(3, 30)], [], '3/30 2/20 900/10'],
    ['by revision, although the clock was behind', [at(10, 10), at(2, 20), at(12, 30)], [], '12/30 2/20 10/10'],
    ['by time at the same revision', [at(1, 10), at(3, 10), at(2, 10)], [], '3/10 2/10 1/10'],
    [
      'by incarnation, although revisions began again',
      [at(1, 50, 'old'), at(2, 60, 'old'), at(3, 10, 'new'), at(4, 20, 'new')],
      ['new', 'old'],
      '4/20 3/10 2/60 1/50',
    ],
    [
      'by incarnation, although the clock of the first one was ahead',
      [at(900, 60, 'old'), at(3, 10, 'new')],
      ['new', 'old'],
      '3/10 900/60',
    ],
    [
      'those of an earlier release among the first incarnation',
      [at(1, 10), at(2, 20, 'new'), at(0, 30, 'old')],
      ['new', 'old'],
      '2/20 1/10 0/30',
    ],
    [
      'by the first place of an incarnation that the chain has twice',
      [at(1, 50, 'old'), at(3, 10, 'new')],
      ['new', 'old', 'new'],
      '3/10 1/50',
    ],
    [
      'owners that are in no chain last',
      [at(9, 90, 'other'), at(1, 10, 'new'), at(0, 5, 'old')],
      ['new', 'old'],
      '1/10 0/5 9/90',
    ],
    [
      'owners without a chain by the times of most of their backups',
      [at(1, 50, 'p'), at(2, 60, 'p'), at(900, 70, 'p'), at(5, 10, 'q'), at(6, 20, 'q'), at(0, 30, 'q')],
      [],
      '0/30 6/20 5/10 900/70 2/60 1/50',
    ],
  ])('is %s', (_, list, chain, expected) => {
    for (const given of [list, list.toReversed()]) expect(names(newestFirst(given, chain))).toBe(expected);
  });

  it.each([
    [at(1, 2), at(1, 1), true],
    [at(1, 2), at(900, 1), true],
    [at(2, 1), at(1, 1), true],
    [at(1, 1), at(1, 1), false],
    [at(900, 1), at(1, 2), false],
  ])('%j is newer than %j: %s', (one, other, expected) => expect(isNewer(one, other)).toBe(expected));
});

describe('the newest backup before an instant', () => {
  /** Times, the newest backup first. */
  const list = (...times: number[]) => times.map((time, index) => at(time, 100 - index));
  it.each<[string, number[], number, number | undefined]>([
    ['is the first with an earlier time', [40, 30, 20, 10], 25, 20],
    ['is not one of that very instant', [40, 30, 20, 10], 20, 10],
    ['is none if all are later', [40, 30], 30, undefined],
    ['is none if there is none', [], 30, undefined],
    ['is the newest if all are earlier', [40, 30], 50, 40],
    ['is not that of a clock that was behind', [40, 5, 30, 20, 10], 25, 20],
    ['is not hidden by that of a clock that was ahead', [40, 30, 900, 20, 10], 25, 20],
    ['is not hidden by older ones of a clock that was ahead', [40, 30, 20, 15, 900, 10], 25, 20],
    ['is the older one where as much speaks for one as for the other', [5, 30], 25, undefined],
  ])('%s', (_, times, instant, expected) => {
    expect(takenBefore(list(...times), instant)?.time).toBe(expected);
  });
});
