import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import durations from './durations.json' with { type: 'json' };
import { longestFirst } from './order.ts';

const known = { 'a.test.ts': 10, 'b.test.ts': 400, 'c.test.ts': 10 };

it('the longest file starts first, and of two equal ones the one with the smaller name, whatever the order of the input', () => {
  const files = ['c.test.ts', 'a.test.ts', 'b.test.ts'];
  expect(longestFirst(files, known)).toEqual(['b.test.ts', 'a.test.ts', 'c.test.ts']);
  expect(longestFirst(files.toReversed(), known)).toEqual(['b.test.ts', 'a.test.ts', 'c.test.ts']);
});

it('a file without a duration starts before short ones, and after long ones', () => {
  expect(longestFirst(['a.test.ts', 'new.test.ts', 'b.test.ts'], known)).toEqual([
    'b.test.ts',
    'new.test.ts',
    'a.test.ts',
  ]);
});

it('durations exist only for existing files', () => {
  const root = join(import.meta.dirname, '../..');
  expect(Object.keys(durations).filter((file) => !existsSync(join(root, file)))).toEqual([]);
});
