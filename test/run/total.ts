import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { output } from './output.ts';
import type { FileResult } from './result.ts';

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
