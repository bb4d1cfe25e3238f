import { describe, expect, it } from 'vitest';
import { describeResult } from './result.ts';

const passed = { fullName: 'keys are kept', status: 'passed', failureMessages: [] };
const failed = {
  fullName: 'keys are rotated',
  status: 'failed',
  failureMessages: [
    'AssertionError: expected 1 to be 2\n    at /p/test/a.test.ts:3:1\n    at /p/node_modules/x.js:1:1',
  ],
};

describe('the summary at the end of a run', () => {
  it('counts the tests if all passed', () => {
    const report = {
      numTotalTests: 1,
      numPassedTests: 1,
      testResults: [{ name: '/p/test/a.test.ts', status: 'passed', assertionResults: [passed] }],
    };
    expect(describeResult(report, { code: 0, root: '/p' })).toEqual(['1 of 1 tests passed in 1 files']);
  });

  it('names each failed test with its file, and prints the reason without the frames of libraries', () => {
    const report = {
      numTotalTests: 2,
      numPassedTests: 1,
      testResults: [{ name: '/p/test/a.test.ts', status: 'failed', assertionResults: [passed, failed] }],
    };
    expect(describeResult(report, { code: 1, root: '/p' })).toEqual([
      '1 of 2 tests passed in 1 files',
      'FAILED test/a.test.ts: keys are rotated',
      '    AssertionError: expected 1 to be 2',
      '        at /p/test/a.test.ts:3:1',
    ]);
  });

  it('prints the start and the end of a long error, which may be the output of a program', () => {
    const output = Array.from({ length: 100 }, (_, line) => `line ${line}`).join('\n');
    const long = { ...failed, failureMessages: [output] };
    const report = {
      numTotalTests: 1,
      numPassedTests: 0,
      testResults: [{ name: '/p/test/a.test.ts', status: 'failed', assertionResults: [long] }],
    };
    const printed = describeResult(report, { code: 1, root: '/p' }).slice(2);
    expect(printed).toHaveLength(31);
    expect(printed[0]).toBe('    line 0');
    expect(printed[15]).toBe('    (70 lines)');
    expect(printed.at(-1)).toBe('    line 99');
  });

  it('names a file that could not be run', () => {
    const report = {
      numTotalTests: 0,
      numPassedTests: 0,
      testResults: [{ name: '/p/test/a.test.ts', status: 'failed', message: 'no such module', assertionResults: [] }],
    };
    expect(describeResult(report, { code: 1, root: '/p' }).slice(1)).toEqual([
      'FAILED test/a.test.ts',
      '    no such module',
    ]);
  });

  it('reports a failure of vitest without a failed test', () => {
    const report = { numTotalTests: 0, numPassedTests: 0, testResults: [] };
    expect(describeResult(report, { code: 1, root: '/p' }).at(-1)).toContain('outside of any test');
    expect(describeResult(undefined, { code: 137, root: '/p' })).toEqual([
      'no report was written; vitest ended with 137',
    ]);
  });
});
