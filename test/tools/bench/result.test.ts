import { describe, expect, it } from 'vitest';
import type { Figure } from './figure.ts';
import { keptRegressions, keptResults } from './kept-results.ts';
import { comparable, regressions, type Result, rounded } from './result.ts';

const ratio = (value: number, goal?: Figure['goal']): Figure => ({
  name: 'ours / theirs',
  value,
  unit: 'ratio',
  ...(goal && { goal }),
});
const result = (figures: readonly Figure[], changes: Partial<Result> = {}): Result => ({
  part: 'fleet',
  date: '2026-11-29',
  machine: { processor: 'P', cores: 2, memoryGiB: 24, node: 'v24.1.0' },
  extent: { clusters: 200 },
  figures,
  ...changes,
});

describe('a ratio that is worse by more than a fifth than before', () => {
  it.each<[what: string, before: Figure, now: Figure, isWorse: boolean]>([
    ['a cost grows by a fifth', ratio(1, { atMost: 2 }), ratio(1.2, { atMost: 2 }), false],
    ['a cost grows by more', ratio(1, { atMost: 2 }), ratio(1.21, { atMost: 2 }), true],
    ['a cost shrinks', ratio(1, { atMost: 2 }), ratio(0.1, { atMost: 2 }), false],
    ['a cost without a goal grows by more', ratio(1), ratio(1.21), true],
    ['a gain shrinks by a fifth', ratio(1, { atLeast: 0.5 }), ratio(0.8, { atLeast: 0.5 }), false],
    ['a gain shrinks by more', ratio(1, { atLeast: 0.5 }), ratio(0.79, { atLeast: 0.5 }), true],
    ['a gain grows', ratio(1, { atLeast: 0.5 }), ratio(9, { atLeast: 0.5 }), false],
    ['a time grows', { ...ratio(1), unit: 's' }, { ...ratio(9), unit: 's' }, false],
    ['a time of that name was no ratio', { ...ratio(1), unit: 's' }, ratio(9), false],
    ['another ratio', { ...ratio(1), name: 'another' }, ratio(9), false],
  ])('is found, and nothing else: %s', (_what, before, now, isWorse) => {
    const worse = regressions(result([before], { date: '2026-11-23' }), { figures: [now] });
    const value = now.value.toFixed(2);
    expect(worse).toEqual(isWorse ? [`ours / theirs: ${value}, and 1.00 on 2026-11-23`] : []);
  });

  it('is none without a result before', () => expect(regressions(undefined, { figures: [ratio(9)] })).toEqual([]));

  it('is in no kept result of this repository', () => {
    expect(keptResults().length).toBeGreaterThan(10);
    expect(keptRegressions(keptResults())).toEqual([]);
  });

  it('is found among kept results of the same kind', () => {
    const [before, other] = [result([ratio(1)]), result([ratio(5)], { extent: { clusters: 20 } })];
    expect(keptRegressions([before, other, result([ratio(2)])])).toEqual([
      '2026-11-29: ours / theirs: 2.00, and 1.00 on 2026-11-29',
    ]);
  });
});

describe('the kept result to compare with', () => {
  const before = result([ratio(1)]);
  const { machine } = before;
  it.each<[what: string, kept: Partial<Result>, isComparable: boolean]>([
    ['is of the same part, extent and kind of machine', {}, true],
    ['may have been measured with another Node', { machine: { ...machine, node: 'v22.0.0' } }, true],
    ['may be of other runs', { extent: { clusters: 200, runs: 5 } }, true],
    ['is of no other part', { part: 'outages' }, false],
    ['is of no other extent', { extent: { clusters: 1000 } }, false],
    ['is of no other processor', { machine: { ...machine, processor: 'Q' } }, false],
    ['is of no machine with more cores', { machine: { ...machine, cores: 4 } }, false],
    ['is of no unknown machine', { machine: { cores: 2 } }, false],
  ])('%s', (_what, changes, isComparable) => {
    const kept = { ...before, ...changes };
    expect(comparable([kept], before)).toBe(isComparable ? kept : undefined);
  });

  it('is the last one', () => {
    const later = result([ratio(2)], { date: '2026-11-30' });
    expect(comparable([before, later], before)).toBe(later);
  });

  it('is none for a machine that is not known', () => {
    const unknown = result([ratio(1)], { machine: { cores: 2 } });
    expect(comparable([unknown], unknown)).toBeUndefined();
  });
});

it('a result has no more digits than it has meaning', () => {
  const { coreSeconds, figures } = rounded(result([ratio(1.234567), ratio(123_456)], { coreSeconds: 12.6 }));
  expect([coreSeconds, ...figures.map(({ value }) => value)]).toEqual([13, 1.235, 123_500]);
});
