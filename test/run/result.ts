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
 * The last lines of a run: how many tests passed, and each that failed, with the start and the end of its error.
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
      lines.push(`FAILED ${file}: ${fullName}`, ...excerptOf(failureMessages?.join('\n')));
    if (status === 'failed' && failed.length === 0) lines.push(`FAILED ${file}`, ...excerptOf(message));
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

/** Lines of an error that are printed: an assertion begins with what it says, the output of a program ends with it. */
const shown = { first: 15, last: 15 } as const;

function excerptOf(message: string | undefined): string[] {
  const lines = (message ?? '').split('\n').filter((line) => line.trim() !== '' && !line.includes('/node_modules/'));
  const left = lines.length - shown.first - shown.last;
  const parts = left > 0 ? [...lines.slice(0, shown.first), `(${left} lines)`, ...lines.slice(-shown.last)] : lines;
  return parts.map((line) => `    ${line}`);
}
