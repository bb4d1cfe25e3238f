import { expect, it } from 'vitest';
import { drift, durationsOf, keptDurations } from './file-times.ts';

it('a file that takes more than half longer or shorter than its committed duration is reported; noise is not', () => {
  const committed = { slower: 100, faster: 100, steady: 100, short: 4 };
  const measured = { slower: 151, faster: 49, steady: 149, short: 12, new: 7 };
  expect(drift(committed, measured)).toEqual([
    'slower: 100 s before, 151 s now',
    'faster: 100 s before, 49 s now',
    'new is new: 7 s',
  ]);
});

it('durations are whole seconds in the order of the names, so that a new measurement is a small diff', () => {
  const times = ['b', 'a'].map((file) => ({ file, wallSeconds: 1.6, waitedSeconds: 0, processorSeconds: 1 }));
  expect(JSON.stringify(durationsOf(times))).toBe('{"a":2,"b":2}');
});

it('of pure files only the long ones are kept', () => {
  const times = [5, 4.9].map((wallSeconds) => ({
    file: `${wallSeconds}`,
    wallSeconds,
    waitedSeconds: 0,
    processorSeconds: 1,
  }));
  expect(durationsOf(times, 5)).toEqual({ 5: 5 });
});

it('a run of some files keeps the durations of others, and forgets files that are gone', () => {
  const kept = keptDurations({ gone: 5, other: 6, same: 7 }, { same: 8, new: 9 }, [
    'new',
    'other',
    'same',
    'unmeasured',
  ]);
  expect(kept).toEqual({ new: 9, other: 6, same: 8 });
});
