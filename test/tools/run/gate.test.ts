import { describe, expect, it } from 'vitest';
import { crashOf, type LaneEnd, refusalAfter, verdictOf } from './gate.ts';

const fileOf = (file: string, ...reasons: string[]) => ({
  file,
  wallSeconds: 1,
  waitedSeconds: 0,
  processorSeconds: 1,
  tests: 1,
  passed: reasons.length > 0 ? 0 : 1,
  failures: reasons.map((reason) => ({ what: 'a test', reason })),
});
const end = (code: number, ...files: ReturnType<typeof fileOf>[]): LaneEnd => ({
  name: 'real',
  code,
  files: files.map(({ file }) => file),
  report: { files, unhandled: [] },
});
const [good, bad] = [fileOf('good'), fileOf('bad', 'timed out')];
const many = Array.from({ length: 6 }, (_, index) => fileOf(`bad-${index}`, 'refused'));

describe('after the lanes of real binaries', () => {
  it.each<[what: string, ends: readonly LaneEnd[], again: readonly string[], red: readonly string[]]>([
    ['all files passed: the run ends', [end(0, good)], [], []],
    ['a file failed: it runs again', [end(0, good), end(1, good, bad)], ['bad'], []],
    ['five files failed: they run again', [end(1, ...many.slice(1))], many.slice(1).map(({ file }) => file), []],
    ['six files failed: red', [end(1, ...many)], [], ['6 files failed: too many to run each once more']],
    [
      'a global set-up failed: red, because it says so without a failed test',
      [end(1)],
      [],
      ['real: vitest ended with 1, although no test failed'],
    ],
    [
      'vitest crashed before any file had ended: red',
      [{ ...end(137), report: undefined }],
      [],
      ['real: vitest ended with 137, and no file had ended'],
    ],
    [
      'vitest crashed after a file had failed: red, because others did not run',
      [{ ...end(137, bad), files: ['bad', 'late'] }],
      [],
      ['real: vitest ended with 137, before late'],
    ],
    [
      'an error belongs to no file: red, and the file that failed does not run again',
      [{ ...end(1), name: 'host', report: { files: [bad], unhandled: ['late'] } }],
      [],
      ['host: an error outside of any test'],
    ],
  ])('%s', (_what, ends, again, red) => expect(verdictOf(ends)).toEqual({ again, red }));
});

it('a failed file is no crash', () => expect(crashOf(end(1, bad))).toBeUndefined());

describe('after the pure tests', () => {
  it.each<[what: string, pure: LaneEnd, refusal: string | undefined]>([
    ['all files passed: the others run', end(0, good), undefined],
    ['a test failed', end(1, good, bad), 'a pure test failed: no others were run'],
    [
      'a worker ended without a word, and its files with it',
      { ...end(0, good), files: ['good', 'lost'] },
      'real: vitest ended with 0, before lost: no others were run',
    ],
    [
      'an error belongs to no file',
      { ...end(1, good), report: { files: [good], unhandled: ['late'] } },
      'real: an error outside of any test: no others were run',
    ],
  ])('%s', (_what, pure, refusal) => expect(refusalAfter(pure)).toBe(refusal));
});
