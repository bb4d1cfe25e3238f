import { expect, test } from 'vitest';
import { createKey, keyHash } from '../../../reconciler/pki/key.ts';

test('a key always has the same hash, and another key has another one', () => {
  const [one, other] = [createKey(), createKey()];
  expect(keyHash(one)).toMatch(/^[0-9a-f]{8}$/);
  expect(keyHash(one)).toBe(keyHash(one));
  expect(keyHash(other)).not.toBe(keyHash(one));
  expect(() => keyHash('text')).toThrow(/DECODER|unsupported/);
});
