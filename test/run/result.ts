import { readFile } from 'node:fs/promises';

/** The part of vitest's JSON report that is read. */
interface Report {
  readonly numTotalTests: number;
  readonly numPassedTests: number;
  readonly testResults: readonly FileResult[];
}

interface FileResult {
  readonly name: string;
  readonly status: string;
  /** The reason why the file could not be run, such as a failed import or `beforeAll`. */
  readonly message?: string;
  readonly assertionResults: readonly TestResult[];
}

interface TestResult {
  readonly fullName: string;
  readonly status: string;
  readonly failureMessages?: readonly string[];
}

/**
 * The last lines of a run: how many tests passed, and each that failed, with the start of its error.
 * `code` is vitest's exit code: other than 0, there is a line even if no test failed. Files are relative to `root`.
 */
export function describeResult(report: Report | undefined, { code, root }: { code: number; root: string }): string[] {
  if (!report) return [`no report was written; vitest ended with ${code}`];
  const lines = [
    `${report.numPassedTests} of ${report.numTotalTests} tests passed in ${report.testResults.length} files`,
  ];
  for (const { name, status, message, assertionResults } of report.testResults) {
    const failed = assertionResults.filter((test) => test.status === 'failed');
    const file = name.startsWith(`${root}/`) ? name.slice(root.length + 1) : name;
    for (const { fullName, failureMessages } of failed)
      lines.push(`FAILED ${file}: ${fullName}`, ...firstWords(failureMessages?.join('\n')));
    if (status === 'failed' && failed.length === 0) lines.push(`FAILED ${file}`, ...firstWords(message));
  }
  if (code !== 0 && lines.length === 1) lines.push(`FAILED outside of any test: vitest ended with ${code}`);
  return lines;
}

/** The report in this file; undefined if vitest ended before it could write one. */
export async function readReport(file: string): Promise<Report | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch {
    return undefined;
  }
}

const shownLines = 20;

function firstWords(message: string | undefined): string[] {
  const lines = (message ?? '').split('\n').filter((line) => line.trim() !== '' && !line.includes('/node_modules/'));
  return lines.slice(0, shownLines).map((line) => `    ${line}`);
}
