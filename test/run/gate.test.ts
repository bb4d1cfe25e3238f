import { describe, expect, it } from 'vitest';
import { crashOf, type LaneEnd, verdictOf } from './gate.ts';

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
      [{ name: 'real', code: 137, report: undefined }],
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
      [{ name: 'host', code: 1, report: { files: [bad], unhandled: ['late'] } }],
      [],
      ['host: an error outside of any test'],
    ],
  ])('%s', (_what, ends, again, red) => expect(verdictOf(ends)).toEqual({ again, red }));
});

it('a failed file is no crash', () => expect(crashOf(end(1, bad))).toBeUndefined());
