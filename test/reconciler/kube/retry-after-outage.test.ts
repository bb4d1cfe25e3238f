import { expect, it } from 'vitest';
import { SharedFailures } from '../../../reconciler/kube/retry-after-outage.ts';

/** What happens to keys, each with the second at which it does. */
type Step = readonly [second: number, what: 'away' | 'other' | 'done', key: string];

const outage: readonly Step[] = [
  [0, 'away', 'a'],
  [1, 'away', 'b'],
  [2, 'away', 'c'],
];

it.each<[string, readonly Step[], string[], string | undefined]>([
  ['one that failed for it', [...outage, [60, 'done', 'b']], ['a', 'c'], undefined],
  ['one that did not fail', [...outage, [60, 'done', 'd']], [], 'a'],
  ['one that then failed for a reason of its own', [...outage, [59, 'other', 'b'], [60, 'done', 'b']], [], 'a'],
  [
    'the only one',
    [
      [0, 'away', 'a'],
      [60, 'done', 'a'],
    ],
    [],
    undefined,
  ],
  [
    'a second one, soon after the first',
    [[0, 'done', 'x'], ...outage, [60, 'done', 'a'], [62, 'away', 'b'], [62, 'away', 'c'], [63, 'done', 'b']],
    [],
    'c',
  ],
  [
    'a second one, later',
    [...outage, [60, 'done', 'a'], [62, 'away', 'b'], [62, 'away', 'c'], [70, 'done', 'b']],
    ['c'],
    undefined,
  ],
])('after a success of %s these are tried at once', (_, steps, retried, next) => {
  const failures = new SharedFailures();
  let last: string[] = [];
  for (const [second, what, key] of steps) {
    if (what === 'done') last = failures.succeeded(key, second * 1000);
    else failures.failed(key, what === 'away');
  }
  expect([last, failures.nextProbe(() => false)]).toEqual([retried, next]);
});

it('keys are tried in turn, but none that runs', () => {
  const failures = new SharedFailures();
  for (const [, , key] of outage) failures.failed(key, true);
  failures.failed('a', true);
  expect(failures.nextProbe(() => false)).toBe('b');
  expect(failures.nextProbe((key) => key === 'b')).toBe('c');
});
