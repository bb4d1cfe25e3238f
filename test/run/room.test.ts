import { expect, test } from 'vitest';
import { untilRoom } from './room.ts';

/** A machine of two processors whose runnable threads are those of each second, the last ones for good. */
function machine(...seconds: readonly number[]) {
  let ms = 0;
  return {
    processors: 2,
    runnable: async () => seconds[Math.min(Math.floor(ms / 1000), seconds.length - 1)] ?? 0,
    sleep: async (pause: number) => (ms += pause),
  };
}

test.each<[what: string, threads: readonly number[], seconds: number]>([
  ['a file begins at once on an idle machine', [1], 3],
  ['a file waits while more threads want to run than the processors have room for', [40, 40, 40, 40, 40, 4], 9],
  ['a moment of many threads delays no file', [30, 2, 2], 3],
  ['a file begins beside programs that never end', [60], 120],
])('%s', async (_what, threads, seconds) => {
  expect(await untilRoom(machine(...threads))).toBe(seconds);
});
