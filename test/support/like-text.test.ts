import { expect, test } from 'vitest';
import { likeText } from './like-text.ts';

const shown = 'NAME   AGE\nprod   …\n';

test.each([
  ['NAME       AGE\nprod       12s\n', true],
  ['NAME AGE\nprod 5m30s', true],
  ['NAME AGE\nprod ', false],
  ['NAME AGE\nother 12s', false],
  ['NAME AGE\nprod 12s\nother 3s', false],
])('%j is like it: %s', (text, expected) => {
  expect(likeText(shown).test(text)).toBe(expected);
});

test('a last line of … stands for further lines', () => {
  expect(likeText('a\n…').test('a\nb\nc')).toBe(true);
  expect(likeText('a\n…').test('b\nc')).toBe(false);
});

test('characters with a meaning in patterns have none', () => {
  expect(likeText('a.b (1/1) [x]').test('a.b (1/1) [x]')).toBe(true);
  expect(likeText('a.b').test('axb')).toBe(false);
});
