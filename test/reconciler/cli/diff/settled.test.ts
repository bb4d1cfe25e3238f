import { expect, it } from 'vitest';
import { settled } from '../../../../reconciler/cli/diff/settled.ts';

it.each<[string, unknown, unknown, unknown, unknown]>([
  ['a field in which both agree stays', { a: 1 }, { a: 1 }, { a: 2 }, { a: 1 }],
  ['a field in which they differ is the live one', { a: 1 }, { a: 2 }, { a: 3 }, { a: 3 }],
  ['a field in which they differ and that is not there is left out', { a: 1 }, { a: 2 }, {}, {}],
  ['a map of which nothing is there is left out', { m: { a: 1 } }, { m: { a: 2 } }, {}, {}],
  ['an empty map in which both agree stays', { m: {}, a: 1 }, { m: {}, a: 2 }, {}, { m: {} }],
  ['a field of one only is the live one', { a: 1 }, {}, { a: 3 }, { a: 3 }],
  [
    'entries of a list are those with their names',
    [{ name: 'a', v: 1 }, { name: 'b' }],
    [{ name: 'a', v: 2 }, { name: 'b' }],
    [
      { name: 'b', more: 1 },
      { name: 'a', v: 3 },
    ],
    [{ name: 'a', v: 3 }, { name: 'b' }],
  ],
  [
    'flags are those with their names, all of them',
    ['--a=1', '--b=1'],
    ['--a=1', '--b=2'],
    ['--b=3', '--b=4', '--a=9'],
    ['--a=1', '--b=3', '--b=4'],
  ],
  [
    'entries without names are those at their place',
    [{ a: 1 }, { b: 1, c: 2 }],
    [{ a: 1 }, { b: 1, c: 3 }],
    [{ a: 8 }, {}],
    [{ a: 1 }, {}],
  ],
  ['a list of another length is the live one', [1], [2], [3, 4], [3, 4]],
])('%s', (_, one, other, live, expected) => {
  expect(settled(one, other, live)).toEqual(expected);
});
