import { beforeEach, expect, it } from 'vitest';
import { InquiryBook } from '../../reconciler/inquiries.ts';
import { ManualClock } from '../support/manual-clock.ts';

let clock: ManualClock;
let book: InquiryBook;
let asked: number;
beforeEach(() => {
  clock = new ManualClock();
  book = new InquiryBook(clock);
  asked = 0;
});
const ask = (basis: unknown, owner = 'team/c1') => book.of(owner).ask('question', basis, async () => ++asked);
const failing = (basis: unknown = 'x') =>
  book.of('team/c1').ask('question', basis, () => Promise.reject(new Error(`no answer ${++asked}`)));

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

it('throws a failure again without asking, for twice as long each time and half a minute at most', async () => {
  const waits: number[] = [];
  for (let times = 0; times < 8; times++) {
    await expect(failing()).rejects.toThrow(`no answer ${times + 1}`);
    await expect(failing()).rejects.toThrow(`no answer ${times + 1}`);
    const waitMs = (book.of('team/c1').retryAt('question')?.getTime() ?? 0) - clock.now();
    waits.push(waitMs);
    await clock.advance(waitMs);
  }
  expect(asked).toBe(8);
  expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
});

it('asks at once after a failure when what the answer depends on is different, and begins the back-off anew', async () => {
  await expect(failing('x')).rejects.toThrow('no answer 1');
  await clock.advance(500);
  await expect(failing('x')).rejects.toThrow('no answer 2');
  await expect(failing('y')).rejects.toThrow('no answer 3');
  expect(book.of('team/c1').retryAt('question')).toEqual(new Date(clock.now() + 500));
  expect(book.of('team/c2').retryAt('question')).toBeUndefined();
  expect(await ask('z')).toBe(4);
  expect(book.of('team/c1').retryAt('question')).toBeUndefined();
});
