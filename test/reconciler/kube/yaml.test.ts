import { expect, it } from 'vitest';
import { parseYaml } from '../../../reconciler/kube/yaml.ts';

const longest = 64 << 10;
const upTo = (bytes: number, line: (index: number) => string) => {
  let text = '';
  for (let index = 0; ; index += 1) {
    const next = line(index);
    if (text.length + next.length > bytes) return text;
    text += next;
  }
};
const keys = (bytes: number) => upTo(bytes, (index) => `k${index.toString(36)}:\n`);

it('parses what has many keys, which takes a parser that compares them minutes when there are some more', () => {
  expect(Object.keys(parseYaml(keys(longest)) as object).length).toBeGreaterThan(8_000);
  expect(parseYaml(keys(2 * longest))).toBeUndefined();
});

it.each<[string, string]>([
  ['opened without end', '['.repeat(longest)],
  ['nested in lists', '- '.repeat(longest / 2)],
  ['aliases', `a: &a [x, x]\n${upTo(longest / 2, (index) => `b${index}: *a\n`)}`],
])('what is %s is no content', (_, text) => {
  expect(parseYaml(text)).toBeUndefined();
});

it('parses what the operator and its users write', () => {
  expect(parseYaml('a: [1, {b: c}]\nd: |\n  text\n')).toEqual({ a: [1, { b: 'c' }], d: 'text\n' });
});
