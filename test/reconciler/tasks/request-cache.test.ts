import { beforeEach, expect, it } from 'vitest';
import { RequestCaches } from '../../../reconciler/tasks/request-cache.ts';
import { ManualClock } from '../../support/manual-clock.ts';

let clock: ManualClock;
let book: RequestCaches;
let asked: number;
beforeEach(() => {
  clock = new ManualClock();
  book = new RequestCaches(clock);
  asked = 0;
});
const ask = (inputsKey: unknown, owner = 'team/c1') => book.of(owner).ask('question', inputsKey, async () => ++asked);
it('asks once while what the answer depends on stays the same, for nine minutes', async () => {
  expect([await ask(['x', 1]), await ask(['x', 1])]).toEqual([1, 1]);
  await clock.advance(9 * 60_000 - 1);
  expect(await ask(['x', 1])).toBe(1);
  await clock.advance(1);
  expect(await ask(['x', 1])).toBe(2);
});

it('asks again when what the answer depends on is different, for somebody else, and for one that was gone', async () => {
  expect([await ask('x'), await ask('y'), await ask('x')]).toEqual([1, 2, 3]);
  expect(await ask('x', 'team/c2')).toBe(4);
  book.forget('team/c1');
  expect([await ask('x'), await ask('x', 'team/c2')]).toEqual([5, 4]);
});

it('does not remember that there was no answer', async () => {
  const none = () => book.of('team/c1').ask('question', 'x', async () => void (asked += 1));
  expect([await none(), await none(), asked]).toEqual([undefined, undefined, 2]);
});

it('does not remember a failure, nor what was known before it', async () => {
  expect(await ask('x')).toBe(1);
  await clock.advance(9 * 60_000);
  const failing = () => book.of('team/c1').ask('question', 'x', () => Promise.reject(new Error('no answer')));
  await expect(failing()).rejects.toThrow('no answer');
  await expect(failing()).rejects.toThrow('no answer');
  expect(await ask('x')).toBe(2);
});
