import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Result } from './result.ts';
import { comparable, regressions, rounded } from './result.ts';

const directory = join(import.meta.dirname, 'results');

/** The kept results of a part in the order in which they were measured; all parts without one. */
export function keptResults(part: Result['part'] | '*' = '*'): Result[] {
  return globSync(`${part}.json`, { cwd: directory })
    .toSorted()
    .flatMap((file) => JSON.parse(readFileSync(join(directory, file), 'utf8')) as Result[]);
}

/** Writes a result to the others of its part. The pages show it and the one before. */
export function keep(result: Result): void {
  const { part } = result;
  const all = [...keptResults(part), rounded(result)];
  writeFileSync(join(directory, `${part}.json`), `${JSON.stringify(all, undefined, 2)}\n`);
}

/** What is worse in a kept result than in the one before of the same kind. */
export function keptRegressions(kept: readonly Result[]): string[] {
  return kept.flatMap((result, index) =>
    regressions(comparable(kept.slice(0, index), result), result).map((worse) => `${result.date}: ${worse}`),
  );
}
