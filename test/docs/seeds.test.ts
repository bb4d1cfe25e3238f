import { describe, expect, it } from 'vitest';
import { hasTest } from '../support/named-tests.ts';
import { readPage } from '../support/pages.ts';

const { text } = await readPage('test/SEEDS.md');
const rows = [...text.matchAll(/^\| (S00[123]-\d+) \| (.+?) \| `(.+?)`: (.+?) \|$/gm)].map(
  ([, id = '', what = '', file = '', name = '']) => ({ id, what, file, name }),
);

const commands = [
  ...text.matchAll(/^\| (00[0-4]) \| (.+?) \| (works as written|corrected: ).*? \| `(.+?)`: (.+?) \|$/gm),
].map(([, id = '', what = '', , file = '', name = '']) => ({ id, what, file, name }));

describe('the table of what the seeds let their readers type', () => {
  it('has a verdict in every row', () => {
    expect(commands.length).toBeGreaterThan(20);
    expect(commands.length).toBe(text.match(/^\| 00/gm)?.length);
  });

  it.each(commands)('names a test for $what that exists', async (row) => {
    expect({ ...row, exists: await hasTest(row) }).toMatchObject({ exists: true });
  });
});

describe('the table of what the seeds ask for', () => {
  it('has every line of each seed', () => {
    const count = { S001: 16, S002: 14, S003: 14 };
    const wanted = Object.entries(count).flatMap(([seed, last]) =>
      Array.from({ length: last }, (_, index) => `${seed}-${index + 1}`),
    );
    expect([...new Set(rows.map(({ id }) => id))]).toEqual(wanted);
    expect(rows.length).toBe(text.match(/^\| S00/gm)?.length);
  });

  it.each(rows)('names a test for $id that exists: $what', async (row) => {
    expect({ ...row, exists: await hasTest(row) }).toMatchObject({ exists: true });
  });
});
