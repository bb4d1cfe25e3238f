import { describe, expect, it } from 'vitest';
import { slowness } from './linear-patterns.ts';

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
