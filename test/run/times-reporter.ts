import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, TestModule, Vitest } from 'vitest/node';
import type { FileTime } from './file-times.ts';

/** Path of the reporter's file, for the process that runs vitest. */
export const timesFileVariable = 'HCP_TEST_TIMES';

/** Writes the duration of each test file to the file in `$HCP_TEST_TIMES`. */
export default class TimesReporter implements Reporter {
  readonly #started = new Map<string, number>();
  readonly #times: FileTime[] = [];
  #root = '';

  onInit({ config }: Vitest): void {
    this.#root = config.root;
  }

  onTestModuleQueued({ moduleId }: TestModule): void {
    this.#started.set(moduleId, performance.now());
  }

  onTestModuleEnd(module: TestModule): void {
    const started = this.#started.get(module.moduleId) ?? performance.now();
    const { processorSeconds = 0, waitedSeconds = 0 } = module.meta();
    this.#times.push({
      file: relative(this.#root, module.moduleId),
      wallSeconds: (performance.now() - started) / 1000 - waitedSeconds,
      waitedSeconds,
      processorSeconds,
    });
  }

  onTestRunEnd(): void {
    const file = process.env[timesFileVariable];
    if (file !== undefined) writeFileSync(file, JSON.stringify(this.#times));
  }
}
