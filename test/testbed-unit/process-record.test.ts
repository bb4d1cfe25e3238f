import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withLock } from '../tools/testbed/lock.ts';
import { killSaved, processRecord, savedProcess, saveProcess } from '../tools/testbed/process-record.ts';

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'process-'));
});

afterAll(() => rm(directory, { recursive: true }));

test('a process is found and killed by its record', async () => {
  const path = join(directory, 'sleep.pid');
  const child = spawn('sleep', ['60']);
  const ended = once(child, 'exit');
  await saveProcess(path, child.pid ?? 0);
  expect(await savedProcess(path)).toMatchObject({ pid: child.pid });
  await killSaved(path);
  await ended;
  expect(child.signalCode).toBe('SIGKILL');
  expect(await savedProcess(path)).toBeUndefined();
});

test('another process with the same pid is not mistaken for it', async () => {
  const path = join(directory, 'reused.pid');
  await writeFile(path, `${process.pid} 1\n`);
  expect(await savedProcess(path)).toBeUndefined();
  await killSaved(path);
  expect(await processRecord(process.pid)).toBeDefined();
});

test('a lock is held by one at a time', async () => {
  const path = join(directory, 'lock');
  const order: string[] = [];
  const child = spawn('sleep', ['60']);
  await saveProcess(path, child.pid ?? 0);
  const waiting = withLock(
    path,
    (holder) => order.push(`waits for ${holder}`),
    async () => order.push('works'),
  );
  await expect.poll(() => order).toEqual([`waits for ${child.pid}`]);
  child.kill('SIGKILL');
  await waiting;
  expect(order).toEqual([`waits for ${child.pid}`, 'works']);
});

test('a lock is released after a failure', async () => {
  const path = join(directory, 'failing');
  const failing = withLock(
    path,
    () => {},
    () => Promise.reject(new Error('no luck')),
  );
  await expect(failing).rejects.toThrow('no luck');
  expect(
    await withLock(
      path,
      () => {},
      () => Promise.resolve('luck'),
    ),
  ).toBe('luck');
});
