import { expect, it } from 'vitest';
import { remembered } from '../../../reconciler/pki/remembered.ts';

function counted(max: number) {
  let asked = 0;
  const answer = remembered((one: string, other: string) => {
    asked += 1;
    return `${one}+${other}`;
  }, max);
  return {
    answer,
    asked: () => {
      const count = asked;
      asked = 0;
      return count;
    },
  };
}

it('asks each question once, and does not take two texts for one', () => {
  const { answer, asked } = counted(10);
  expect([answer('a', 'b'), answer('a', 'b'), answer('ab', ''), answer('', 'ab')]).toEqual([
    'a+b',
    'a+b',
    'ab+',
    '+ab',
  ]);
  expect(asked()).toBe(3);
});

it('remembers nothing of a question without an answer', () => {
  let fails = true;
  const answer = remembered((text: string) => {
    if (fails) throw new Error(text);
    return text;
  });
  expect(() => answer('a')).toThrow('a');
  fails = false;
  expect(answer('a')).toBe('a');
});

it('keeps most answers when there are more questions than it remembers, and learns new ones', () => {
  const { answer, asked } = counted(1_000);
  const askAll = (from: number) => Array.from({ length: 1_250 }, (_, index) => answer(String(from + index), ''));
  askAll(0);
  asked();
  // A cache that forgot the oldest, or all, would ask 1,250 times.
  askAll(0);
  expect(asked()).toBeLessThan(400);
  for (let round = 0; round < 40; round++) askAll(10_000);
  asked();
  askAll(10_000);
  expect(asked()).toBeLessThan(400);
});
