import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import durations from './durations.json' with { type: 'json' };
import { longestFirst, orderOf } from './order.ts';

const known = { 'a.test.ts': 10, 'b.test.ts': 400, 'c.test.ts': 10 };

it('the longest file begins first, and of two that are alike the one with the smaller name, whatever order they come in', () => {
  const files = ['c.test.ts', 'a.test.ts', 'b.test.ts'];
  expect(longestFirst(files, known)).toEqual(['b.test.ts', 'a.test.ts', 'c.test.ts']);
  expect(longestFirst(files.toReversed(), known)).toEqual(['b.test.ts', 'a.test.ts', 'c.test.ts']);
});

it('a file that was never measured begins before short ones, and not before long ones', () => {
  expect(longestFirst(['a.test.ts', 'new.test.ts', 'b.test.ts'], known)).toEqual([
    'b.test.ts',
    'new.test.ts',
    'a.test.ts',
  ]);
});

it('the project that runs one file at a time begins with the shortest, every other one with the longest', () => {
  const files = ['a.test.ts', 'b.test.ts'];
  expect(orderOf('host', files, known)).toEqual(['a.test.ts', 'b.test.ts']);
  expect(orderOf('testbed', files, known)).toEqual(['b.test.ts', 'a.test.ts']);
});

it('of the pure files those that are known to be long begin', () => {
  expect(orderOf('unit', ['a.test.ts', 'new.test.ts', 'b.test.ts'], known)).toEqual([
    'b.test.ts',
    'a.test.ts',
    'new.test.ts',
  ]);
});

it('durations are told of files that there are', () => {
  const root = join(import.meta.dirname, '../..');
  expect(Object.keys(durations).filter((file) => !existsSync(join(root, file)))).toEqual([]);
});
