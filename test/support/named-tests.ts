import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { literalsOf } from './literals.ts';
import { repository } from './pages.ts';

/** A row of a table that names the test which shows it. */
export interface Shown {
  readonly id: string;
  readonly what: string;
  /** Path of the file, without `.test.ts`. */
  readonly file: string;
  /** Titles of groups, then that of the test. */
  readonly name: string;
}

/** Whether a file has a test of this name. */
export async function hasTest({ file, name }: Pick<Shown, 'file' | 'name'>): Promise<boolean> {
  const titles = literalsOf(await readFile(join(repository, `${file}.test.ts`), 'utf8')).map(({ text }) => text);
  return isSequenceOf(titles, name);
}

/** Whether a name is a sequence of these titles: those of groups, then that of a test. */
function isSequenceOf(titles: readonly string[], name: string): boolean {
  return titles.some(
    (title) => title === name || (name.startsWith(`${title} `) && isSequenceOf(titles, name.slice(title.length + 1))),
  );
}
