import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileTime } from './file-times.ts';
import { output } from './output.ts';

/** The result of a run of vitest. */
export interface RunResult {
  readonly files: readonly FileResult[];
  /** Errors that belong to no file. */
  readonly unhandled: readonly string[];
}

/** What a run of vitest reports: its result, and how long its files took. */
export interface RunReport extends RunResult {
  readonly files: readonly (FileResult & FileTime)[];
}

/** The result of a test file. */
export interface FileResult {
  /** Relative to the root of the repository. */
  readonly file: string;
  /** Those that a failed hook skipped count, too. */
  readonly tests: number;
  readonly passed: number;
  readonly failures: readonly Failure[];
}

/** A test, or a hook, that failed. */
export interface Failure {
  readonly what: string;
  /** The messages of its errors, with their frames. */
  readonly reason: string;
}

/**
 * The last lines of a run: how many tests passed, and each test and hook that failed, with the start and the end of its error.
 * @param code vitest's exit code: other than 0, there is a line even if nothing failed
 */
export function describeResult(report: RunResult | undefined, code: number): string[] {
  if (!report) return [`no report was written; vitest ended with ${code}`];
  const { files, unhandled } = report;
  const sum = (key: 'tests' | 'passed') => files.reduce((total, file) => total + file[key], 0);
  const failures = [
    ...files.flatMap(({ file, failures }) =>
      failures.map(({ what, reason }) => ({ what: `${file}: ${what}`, reason })),
    ),
    ...unhandled.map((reason) => ({ what: 'outside of any test', reason })),
  ];
  const lines = [
    `${sum('passed')} of ${sum('tests')} tests passed in ${files.length} files`,
    ...failures.flatMap(({ what, reason }) => [`FAILED ${what}`, ...excerptOf(reason)]),
  ];
  if (code !== 0 && failures.length === 0) lines.push(`FAILED outside of any test: vitest ended with ${code}`);
  return lines;
}

/** The report in this file; undefined if vitest ended before it could write one. */
export async function readReport(file: string): Promise<RunReport | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/** Lines of an error that are printed: an assertion begins with what it says, the output of a program ends with it. */
const shown = { first: 15, last: 15 } as const;

function excerptOf(reason: string): string[] {
  const lines = reason.split('\n').filter((line) => line.trim() !== '' && !line.includes('/node_modules/'));
  const left = lines.length - shown.first - shown.last;
  const parts = left > 0 ? [...lines.slice(0, shown.first), `(${left} lines)`, ...lines.slice(-shown.last)] : lines;
  return parts.map((line) => `    ${line}`);
}

/** The results of files, of which one that ran twice counts as it ended the second time. */
export function lastResults(reports: readonly RunResult[]): FileResult[] {
  return [...new Map(reports.flatMap(({ files }) => files).map((each) => [each.file, each])).values()];
}

/** How many tests a run had. */
export interface Total {
  readonly passed: number;
  readonly failed: number;
}

const totalFile = join(output, 'total.json');

/** @param before of a run that this one continues */
export function totalOf(files: readonly FileResult[], before: Total = { passed: 0, failed: 0 }): Total {
  return {
    passed: files.reduce((sum, file) => sum + file.passed, before.passed),
    // all tests of a file may pass, and a hook after them fail
    failed: files.reduce(
      (sum, { tests, passed, failures }) => sum + Math.max(tests - passed, failures.length > 0 ? 1 : 0),
      before.failed,
    ),
  };
}

/** Prints the last line of a run. A run that continues it adds to it. */
export async function printTotal(total: Total): Promise<void> {
  // a run of no files has made no directory
  await mkdir(output, { recursive: true });
  await writeFile(totalFile, JSON.stringify(total));
  console.log(`${total.passed} passed, ${total.failed} failed`);
}

/** Of the last run; nothing if it was interrupted. */
export async function lastTotal(): Promise<Total> {
  return JSON.parse(await readFile(totalFile, 'utf8').catch(() => '{"passed":0,"failed":0}')) as Total;
}
