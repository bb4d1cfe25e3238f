import { expect, test } from 'vitest';
import { untilRoom } from './room.ts';

/** A machine of two processors whose runnable threads are those of each second, the last ones for good, beside files for some time. */
function machine(seconds: readonly number[], othersMs: number, files = 1) {
  let ms = 0;
  return {
    processors: 2,
    runnable: async () => seconds[Math.min(Math.floor(ms / 1000), seconds.length - 1)] ?? 0,
    others: async () => (ms < othersMs ? files : 0),
    sleep: async (pause: number) => (ms += pause),
  };
}

test.each<[what: string, threads: readonly number[], othersMs: number, seconds: number]>([
  ['a file begins at once on an idle machine', [1], Infinity, 2],
  [
    'a file waits while more threads want to run than the processors have room for',
    [40, 40, 40, 40, 40, 4],
    Infinity,
    8,
  ],
  ['a moment of many threads delays no file', [30, 2, 2], Infinity, 2],
  ['a file begins at once where no other file runs, whatever other programs do', [60], 0, 0],
  ['a file begins when the other one ends, although the processors stay busy', [60], 300_000, 300],
  ['a file begins beside one that never ends', [60], Infinity, 1800],
])('%s', async (_what, threads, othersMs, seconds) => {
  expect(await untilRoom(machine(threads, othersMs))).toBe(seconds);
});

test('a third file begins only when the other two leave the processors idle', async () => {
  expect(await untilRoom(machine([9, 9, 9, 3], Infinity, 2))).toBe(6);
});
