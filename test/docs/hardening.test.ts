import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { literalsOf } from '../support/literals.ts';
import { readPage, repository } from '../support/pages.ts';

const { text } = await readPage('test/README.md');
const [, hardening = ''] = text.split(/^## Hardening$/m);
const [section = ''] = hardening.split(/^## /m);
const rows = [...section.matchAll(/^\| ([A-E]\d*) (.+?) \| .+? \| `(.+?)`: (.+?) \|$/gm)].map(
  ([, id = '', attempt = '', file = '', name = '']) => ({ id, attempt, file, name }),
);

/** Whether a name is a sequence of these titles: those of groups, then that of a test. */
function isSequenceOf(titles: readonly string[], name: string): boolean {
  return titles.some(
    (title) => title === name || (name.startsWith(`${title} `) && isSequenceOf(titles, name.slice(title.length + 1))),
  );
}

describe('the table of what is hardened', () => {
  it('has every id of A to E', () => {
    const count = { A: 6, B: 7, C: 7, D: 16 };
    const wanted = Object.entries(count).flatMap(([letter, last]) =>
      Array.from({ length: last }, (_, index) => `${letter}${index + 1}`),
    );
    expect(new Set(rows.map(({ id }) => id))).toEqual(new Set([...wanted, 'E']));
  });

  it('has no row of another form', () => {
    expect(rows.length).toBe(section.match(/^\| [A-E]\d* /gm)?.length);
  });

  it.each(rows)('names a test for $id that exists: $attempt', async ({ file, name }) => {
    const literals = literalsOf(await readFile(join(repository, `${file}.test.ts`), 'utf8')).map((one) => one.text);
    expect({ file, name, exists: isSequenceOf(literals, name) }).toMatchObject({ exists: true });
  });
});
