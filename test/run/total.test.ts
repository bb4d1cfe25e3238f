import { expect, test } from 'vitest';
import { totalOf } from './total.ts';

const file = 'test/cluster/a.test.ts';
const failures = [{ what: 'a hook or an import of the file', reason: 'it is dirty' }];

test.each([
  ['a file that passes', { file, tests: 3, passed: 3, failures: [] }, { passed: 3, failed: 0 }],
  ['tests that a failed hook skipped', { file, tests: 3, passed: 1, failures }, { passed: 1, failed: 2 }],
  ['a hook that fails after all tests', { file, tests: 3, passed: 3, failures }, { passed: 3, failed: 1 }],
])('the last line of a run counts %s', (_, result, total) => {
  expect(totalOf([result])).toEqual(total);
  expect(totalOf([result], { passed: 1, failed: 1 })).toEqual({ passed: total.passed + 1, failed: total.failed + 1 });
});
