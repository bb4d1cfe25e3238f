import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, SerializedError, TestModule, Vitest } from 'vitest/node';
import type { Failure, RunReport } from './result.ts';

/** Path of the reporter's file, for the process that runs vitest. */
export const reportVariable = 'HCP_TEST_REPORT';

/**
 * Writes the duration and the result of each test file to the file in `$HCP_TEST_REPORT`, as soon as the file ends, so that an
 * interrupted run says what had failed. vitest's own report in JSON leaves out why a hook of a `describe` failed.
 */
export default class FileReporter implements Reporter {
  readonly #started = new Map<string, number>();
  readonly #files: RunReport['files'][number][] = [];
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
    const tests = [...module.children.allTests()];
    this.#files.push({
      file: relative(this.#root, module.moduleId),
      wallSeconds: (performance.now() - started) / 1000 - waitedSeconds,
      waitedSeconds,
      processorSeconds,
      tests: tests.length,
      passed: tests.filter((test) => test.result().state === 'passed').length,
      failures: failuresOf(module),
    });
    this.#write([]);
  }

  onTestRunEnd(_modules: unknown, unhandled: readonly SerializedError[]): void {
    this.#write(unhandled.map(textOf));
  }

  #write(unhandled: readonly string[]): void {
    const path = process.env[reportVariable];
    const report: RunReport = { files: this.#files, unhandled };
    if (path !== undefined) writeFileSync(path, JSON.stringify(report));
  }
}

function failuresOf(module: TestModule): Failure[] {
  const failed = (errors: readonly SerializedError[] | undefined, ...what: string[]): Failure[] =>
    errors && errors.length > 0 ? [{ what: what.join(''), reason: errors.map(textOf).join('\n') }] : [];
  return [
    ...failed(module.errors(), 'a hook or an import of the file'),
    ...[...module.children.allSuites()].flatMap((suite) => failed(suite.errors(), 'a hook of: ', suite.fullName)),
    ...[...module.children.allTests('failed')].flatMap((test) => failed(test.result().errors, test.fullName)),
  ];
}

/** The message with its frames, as an error prints itself. */
function textOf({ message, stack }: SerializedError): string {
  return stack?.includes(message) ? stack : [message, stack].filter(Boolean).join('\n');
}
