import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { saveProcess } from '../testbed/process-record.ts';
import { runningFiles, untilRoom } from './room.ts';

/**
 * A machine of two processors whose runnable threads are those of each second, the last ones for good, beside files for some
 * time. Its average of a minute is what it was before, for a minute.
 */
function machine(seconds: readonly number[], files: number, { filesMs = Infinity, before = 0 } = {}) {
  let ms = 0;
  return {
    processors: 2,
    runnable: async () => ({
      now: seconds[Math.min(Math.floor(ms / 1000), seconds.length - 1)] ?? 0,
      lastMinute: ms < 60_000 ? before : 0,
    }),
    others: async () => (ms < filesMs ? files : files - 1),
    sleep: async (pause: number) => (ms += pause),
  };
}

type Past = { readonly filesMs?: number; readonly before?: number };

test.each<[what: string, threads: readonly number[], files: number, past: Past, seconds: number]>([
  ['the first file begins at once, whatever other programs do', [60], 0, { before: 60 }, 0],
  ['a second file begins soon on a busy machine', [20], 1, { before: 20 }, 2],
  ['a second file waits on a machine that is overloaded', [40, 40, 40, 40, 4], 1, {}, 6],
  ['a third file begins soon where not everything is busy', [1], 2, {}, 2],
  ['a third file waits while more threads want to run than it takes', [40, 40, 40, 40, 40, 4], 2, {}, 8],
  ['a third file waits where a second one would not', [20, 20, 20, 20, 4], 2, {}, 6],
  ['a moment of many threads delays no file', [18, 2, 2], 2, {}, 2],
  ['a moment of few threads does not end the wait for an overloaded machine', [1], 2, { before: 30 }, 62],
  ['a third file begins when another one ends, although the processors stay busy', [20], 2, { filesMs: 300_000 }, 300],
  ['a third file begins beside two that never end', [60], 2, {}, 1800],
  ['a fourth file waits for the end of another one, although the processors are idle', [1], 3, { filesMs: 60_000 }, 60],
])('%s', async (_what, threads, files, past, seconds) => {
  expect(await untilRoom(machine(threads, files, past))).toBe(seconds);
});

test('a killed process runs no file, also when another process has its number', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'room-'));
  try {
    await saveProcess(join(directory, String(process.ppid)), process.ppid);
    await saveProcess(join(directory, String(process.pid)), process.pid);
    await writeFile(join(directory, '1'), '1 7\n');
    expect(await runningFiles(directory)).toBe(1);
  } finally {
    await rm(directory, { recursive: true });
  }
});
