import { describe, expect, it } from 'vitest';
import { fileOf } from '../contract/table.ts';
import { nameOf, seeds } from '../seeds/table.ts';
import { hasTest } from '../support/named-tests.ts';
import { readPage } from '../support/pages.ts';

const { text } = await readPage('test/SEEDS.md');
const rows = [...text.matchAll(/^\| (S00[123]-\d+) \| (.+?) \| `(.+?)`: (.+?) \|$/gm)].map(
  ([, id = '', what = '', file = '', name = '']) => ({ id, what, file, name }),
);

const typed = Object.entries(seeds).flatMap(([seed, all]) =>
  all.map((one) => ({ seed, what: nameOf(one), proof: 'proof' in one ? one.proof : undefined })),
);
const proved = typed.flatMap(({ seed, what, proof }) =>
  proof ? [{ seed, what, file: fileOf(proof), name: proof[1] }] : [],
);

describe('the lists of what the seeds let their readers type', () => {
  it('have every block of YAML by its number', () => {
    for (const all of Object.values(seeds)) {
      const numbers = all.flatMap((one) => ('yaml' in one ? [one.yaml] : []));
      expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    }
  });

  it('say of most that it is tried', () => {
    expect(proved.length / typed.length).toBeGreaterThan(0.75);
  });

  it.each(proved)('name a test for $what of $seed that exists', async ({ file, name }) => {
    expect({ file, name, exists: await hasTest({ file: file.replace(/\.test\.ts$/, ''), name }) }).toMatchObject({
      exists: true,
    });
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
