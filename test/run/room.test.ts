import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { saveProcess } from '../testbed/process-record.ts';
import { runningFiles, untilRoom } from './room.ts';

/** A machine of two processors whose runnable threads are those of each second, the last ones for good, beside files for some time. */
function machine(seconds: readonly number[], files: number, filesMs = Infinity) {
  let ms = 0;
  return {
    processors: 2,
    runnable: async () => seconds[Math.min(Math.floor(ms / 1000), seconds.length - 1)] ?? 0,
    others: async () => (ms < filesMs ? files : files - 1),
    sleep: async (pause: number) => (ms += pause),
  };
}

test.each<[what: string, threads: readonly number[], files: number, filesMs: number, seconds: number]>([
  ['a second file begins at once, whatever other programs do', [60], 1, Infinity, 0],
  ['a third file begins soon where not everything is busy', [1], 2, Infinity, 2],
  ['a third file waits while more threads want to run than it takes', [40, 40, 40, 40, 40, 4], 2, Infinity, 8],
  ['a moment of many threads delays no file', [30, 2, 2], 2, Infinity, 2],
  ['a third file begins when another one ends, although the processors stay busy', [60], 2, 300_000, 300],
  ['a third file begins beside two that never end', [60], 2, Infinity, 1800],
  ['a fourth file waits for the end of another one, although the processors are idle', [1], 3, 60_000, 60],
])('%s', async (_what, threads, files, filesMs, seconds) => {
  expect(await untilRoom(machine(threads, files, filesMs))).toBe(seconds);
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
