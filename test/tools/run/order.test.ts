import { expect, it } from 'vitest';
import { testFiles } from './files.ts';
import { lentChain } from './lent-chain.ts';
import { first, fixedOrder, last } from './order.ts';

const [long = '', longer = ''] = first;
const [end = ''] = last;

it('begins with the long files, ends with the heaviest of those that run alone, and has others by their names between', () => {
  const files = ['test/c.test.ts', longer, end, 'test/a.test.ts', long];
  const wanted = [long, longer, 'test/a.test.ts', 'test/c.test.ts', end];
  expect(fixedOrder(files)).toEqual(wanted);
  expect(fixedOrder(files.toReversed())).toEqual(wanted);
});

it('has two files of one subject one after the other', () => {
  const full = long.replace('test/', 'test/full/');
  expect(fixedOrder([longer, full, long])).toEqual([long, full, longer]);
});

it('keeps the chain of files that lend control planes', () => {
  const wanted = [...lentChain, long, end];
  expect(fixedOrder(wanted.toReversed())).toEqual(wanted);
});

it('names only files that there are', () => {
  const subjects = new Set(testFiles().map((file) => file.replace(/^test\/full\//, 'test/')));
  expect([...lentChain, ...first, ...last].filter((file) => !subjects.has(file))).toEqual([]);
});
