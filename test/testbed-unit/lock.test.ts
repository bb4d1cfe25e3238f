import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { withLock } from '../tools/testbed/lock.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lock-'));
});
afterEach(() => rm(directory, { recursive: true }));

it('calls of one process run one after the other, and leave nothing', async () => {
  const running: number[] = [];
  const overlaps: number[] = [];
  const call = (index: number) =>
    withLock(
      join(directory, 'lock'),
      () => {},
      async () => {
        running.push(index);
        overlaps.push(running.length);
        await stat(directory);
        running.pop();
      },
    );
  await Promise.all([0, 1, 2].map(call));
  expect(overlaps).toEqual([1, 1, 1]);
  expect(await readdir(directory)).toEqual([]);
});

it('a call that waits does not write to the lock, which another process would take for that of a dead one', async () => {
  const path = join(directory, 'lock');
  const waiting = Promise.withResolvers<void>();
  const changes: number[] = [];
  let second: Promise<void> | undefined;
  await withLock(
    path,
    () => {},
    async () => {
      const before = await stat(path);
      second = withLock(
        path,
        () => waiting.resolve(),
        async () => {},
      );
      await waiting.promise;
      const after = await stat(path);
      changes.push(after.mtimeMs - before.mtimeMs, after.size - before.size);
    },
  );
  await second;
  expect(changes).toEqual([0, 0]);
});
