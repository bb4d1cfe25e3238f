import { expect, test } from 'vitest';
import { tarHeader, tarPadding } from '../testbed/tar-header.ts';

const file = (path: string) => tarHeader({ type: 'file', path, mode: 0o644, sizeBytes: 1 });

test('a path beyond a hundred bytes is split between name and prefix', () => {
  const path = `${'directory/'.repeat(12)}file`;
  const header = file(path).toString();
  expect(header.slice(0, 4)).toBe('file');
  expect(header.slice(345, 345 + 119)).toBe('directory/'.repeat(12).slice(0, -1));
});

test('a path that ustar cannot hold is refused', () => {
  expect(() => file('x'.repeat(101))).toThrow('too long for a tar archive');
  expect(() => file(`${'x'.repeat(160)}/file`)).toThrow('too long for a tar archive');
});

test.for([
  [0, 0],
  [1, 511],
  [512, 0],
  [513, 511],
])('a file of %i bytes is followed by %i zeros', ([size, zeros]) => {
  expect(tarPadding(size ?? 0).length).toBe(zeros);
});
