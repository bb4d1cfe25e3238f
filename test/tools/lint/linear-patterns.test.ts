import { describe, expect, it } from 'vitest';
import plugin, { slowness } from './linear-patterns.ts';

describe('a pattern', () => {
  it.each([
    ['adjacent quantifiers', /<Code>\s*([^<]+?)\s*<\/Code>/],
    ['nested quantifiers', /^(\w+\s?)+$/],
    ['a quantifier that begins anywhere, before what may be missing', /[{,]hash="([^"]+)"[^}]*\} 1$/],
    ['two ends of a block', /-----BEGIN [^-]+-----END/],
    ['an end of blanks', /\s+$/],
  ])('with %s is refused', (_, { source, flags }) => {
    expect(slowness(source, flags)).toContain('more than linear time');
  });

  it.each([/^v(\d+)(?:(alpha|beta)(\d+))?$/, /^[0-9a-f]{1,16}$/, /\s+/g, /^Bearer\s+(\S+)$/i])(
    'such as %s is taken',
    ({ source, flags }) => {
      expect(slowness(source, flags)).toBeUndefined();
    },
  );
});

describe('the lint rule', () => {
  const slow = { type: 'Literal', value: '^(a+)+$' };
  const regExp = { name: 'RegExp' };

  it.each([
    ['Literal', { type: 'Literal', regex: { pattern: '^(a+)+$', flags: '' } }, 'more than linear time'],
    ['NewExpression', { type: 'NewExpression', callee: regExp, arguments: [slow] }, 'more than linear time'],
    ['CallExpression', { type: 'CallExpression', callee: regExp, arguments: [slow] }, 'more than linear time'],
    ['NewExpression', { type: 'NewExpression', callee: regExp, arguments: [{ type: 'Identifier' }] }, 'at run time'],
  ] as const)('refuses a slow or unknown pattern in a %s', (kind, node, message) => {
    const reported: string[] = [];
    plugin.rules['linear-patterns'].create({ report: (problem) => reported.push(problem.message) })[kind](node);
    expect(reported).toEqual([expect.stringContaining(message)]);
  });
});
