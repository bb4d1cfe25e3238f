import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { reportVariable } from './file-reporter.ts';
import { vitest } from './lane.ts';
import { describeResult, lastResults, readReport, type RunResult, totalOf } from './result.ts';

const passed = { file: 'test/a.test.ts', tests: 1, passed: 1, failures: [] };
const reportOf = (...files: RunResult['files']): RunResult => ({ files, unhandled: [] });
const failed = (reason: string) => reportOf({ ...passed, tests: 2, failures: [{ what: 'keys are rotated', reason }] });

describe('the summary at the end of a run', () => {
  it('counts the tests if all passed', () => {
    expect(describeResult(reportOf(passed, passed), 0)).toEqual(['2 of 2 tests passed in 2 files']);
  });

  it('names each failed test with its file, and prints the reason without the frames of libraries', () => {
    const reason = 'AssertionError: expected 1 to be 2\n    at /p/test/a.test.ts:3:1\n    at /p/node_modules/x.js:1:1';
    expect(describeResult(failed(reason), 1)).toEqual([
      '1 of 2 tests passed in 1 files',
      'FAILED test/a.test.ts: keys are rotated',
      '    AssertionError: expected 1 to be 2',
      '        at /p/test/a.test.ts:3:1',
    ]);
  });

  it('prints the start and the end of a long error, which may be the output of a program', () => {
    const printed = describeResult(
      failed(Array.from({ length: 100 }, (_, line) => `line ${line}`).join('\n')),
      1,
    ).slice(2);
    expect(printed).toHaveLength(31);
    expect(printed[0]).toBe('    line 0');
    expect(printed[15]).toBe('    (70 lines)');
    expect(printed.at(-1)).toBe('    line 99');
  });

  it('reports a failure without a failed test', () => {
    expect(describeResult(reportOf(), 1).at(-1)).toBe('FAILED outside of any test: vitest ended with 1');
    const unhandled = describeResult({ files: [passed], unhandled: ['Error: too late'] }, 1);
    expect(unhandled.slice(1)).toEqual(['FAILED outside of any test', '    Error: too late']);
    expect(describeResult(undefined, 137)).toEqual(['no report was written; vitest ended with 137']);
  });
});

test('the report of a run has why a test, a hook of a describe, and a file failed', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'reported-'));
  try {
    const source = {
      tests: `test('one', () => { throw new Error('of a test'); }); test('two', () => {});`,
      hook: `describe('a part', () => { beforeAll(() => { throw new Error('of a hook'); }); test('one', () => {}); });`,
      file: `beforeAll(() => { throw new Error('of a file'); }); test('one', () => {});`,
    };
    for (const [name, text] of Object.entries(source)) await writeFile(join(directory, `${name}.test.js`), text);
    const [report, reporter] = [join(directory, 'report.json'), join(import.meta.dirname, 'file-reporter.ts')];
    const args = [vitest, 'run', '--globals', '--root', directory, '--reporter', reporter];
    const child = spawn(process.execPath, args, { stdio: 'ignore', env: { ...process.env, [reportVariable]: report } });
    const [code] = (await once(child, 'close')) as [number];
    const lines = describeResult(await readReport(report), code).filter((line) => !/^ +at /.test(line));
    expect(code).toBe(1);
    expect(lines[0]).toBe('1 of 4 tests passed in 3 files');
    expect(
      lines
        .slice(1)
        .join('\n')
        .split(/\n(?=FAILED)/)
        .toSorted(),
    ).toEqual([
      'FAILED file.test.js: a hook or an import of the file\n    Error: of a file',
      'FAILED hook.test.js: a hook of: a part\n    Error: of a hook',
      'FAILED tests.test.js: one\n    Error: of a test',
    ]);
  } finally {
    await rm(directory, { recursive: true });
  }
});

const file = 'test/cluster/a.test.ts';
const failures = [{ what: 'a hook or an import of the file', reason: 'it is dirty' }];

test.each([
  ['a file that passes', { file, tests: 3, passed: 3, failures: [] }, { passed: 3, failed: 0 }],
  ['tests that a failed hook skipped', { file, tests: 3, passed: 1, failures }, { passed: 1, failed: 2 }],
  ['a hook that fails after all tests', { file, tests: 3, passed: 3, failures }, { passed: 3, failed: 1 }],
])('the last line of a run counts %s', (_, result, total) => {
  expect(totalOf([result])).toEqual(total);
  expect(totalOf([result], { passed: 1, failed: 1 })).toEqual({ passed: total.passed + 1, failed: total.failed + 1 });
});

test('a file that ran twice counts as it ended the second time', () => {
  const first = { ...passed, passed: 0, failures };
  expect(lastResults([reportOf(first, { ...passed, file }), reportOf(passed)])).toEqual([passed, { ...passed, file }]);
});
