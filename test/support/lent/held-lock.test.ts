import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { holdLock } from './held-lock.ts';

let path: string;
beforeAll(async () => {
  path = join(await mkdtemp(join(tmpdir(), 'held-lock-')), 'lock');
});
afterAll(() => rm(join(path, '..'), { recursive: true }));

const isHeld = () =>
  access(path).then(
    () => true,
    () => false,
  );
const neverWaits = () => expect.unreachable('it waits for its own process');

test('a lock is held until it is released', async () => {
  const release = await holdLock(path, neverWaits);
  expect(await isHeld()).toBe(true);
  await release();
  expect(await isHeld()).toBe(false);
});

test('a file does not wait for the one before in its process, which was not able to release the lock', async () => {
  const before = await holdLock(path, neverWaits);
  const release = await holdLock(path, neverWaits);
  await before();
  expect(await isHeld()).toBe(true);
  await release();
  expect(await isHeld()).toBe(false);
});
