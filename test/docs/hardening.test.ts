import { describe, expect, it } from 'vitest';
import { hasTest } from '../support/named-tests.ts';
import { readPage } from '../support/pages.ts';

const { text } = await readPage('test/README.md');
const [, hardening = ''] = text.split(/^## Hardening$/m);
const [section = ''] = hardening.split(/^## /m);
const rows = [...section.matchAll(/^\| ([A-E]\d*) (.+?) \| .+? \| `(.+?)`: (.+?) \|$/gm)].map(
  ([, id = '', attempt = '', file = '', name = '']) => ({ id, attempt, file, name }),
);

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

  it.each(rows)('names a test for $id that exists: $attempt', async (row) => {
    expect({ ...row, exists: await hasTest(row) }).toMatchObject({ exists: true });
  });
});
