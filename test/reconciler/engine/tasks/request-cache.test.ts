import { beforeEach, expect, it } from 'vitest';
import { RequestCaches } from '../../../../reconciler/engine/tasks/request-cache.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

let clock: ManualClock;
let caches: RequestCaches;
let requests: number;
beforeEach(() => {
  clock = new ManualClock();
  caches = new RequestCaches(clock);
  requests = 0;
});
const ask = (inputsKey: unknown, owner = 'team/c1') =>
  caches.of(owner).ask('question', inputsKey, async () => ++requests);
it('the cache sends one request for the same inputs, for nine minutes', async () => {
  expect([await ask(['x', 1]), await ask(['x', 1])]).toEqual([1, 1]);
  await clock.advance(9 * 60_000 - 1);
  expect(await ask(['x', 1])).toBe(1);
  await clock.advance(1);
  expect(await ask(['x', 1])).toBe(2);
});

it('the cache sends another request for other inputs, for another owner, and for a forgotten owner', async () => {
  expect([await ask('x'), await ask('y'), await ask('x')]).toEqual([1, 2, 3]);
  expect(await ask('x', 'team/c2')).toBe(4);
  caches.forget('team/c1');
  expect([await ask('x'), await ask('x', 'team/c2')]).toEqual([5, 4]);
});

it('the cache does not store a missing answer', async () => {
  const none = () => caches.of('team/c1').ask('question', 'x', async () => void (requests += 1));
  expect([await none(), await none(), requests]).toEqual([undefined, undefined, 2]);
});

it('the cache does not store a failure, nor the answer before it', async () => {
  expect(await ask('x')).toBe(1);
  await clock.advance(9 * 60_000);
  const failing = () => caches.of('team/c1').ask('question', 'x', () => Promise.reject(new Error('no answer')));
  await expect(failing()).rejects.toThrow('no answer');
  await expect(failing()).rejects.toThrow('no answer');
  expect(await ask('x')).toBe(2);
});
