import { describe, expect, it } from 'vitest';
import { ComparedClock } from '../../../reconciler/kube/compared-clock.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const minute = 60_000;
const hour = 60 * minute;
const year = 365 * 24 * hour;

/** A clock, the machine's, and answers of a server whose clock is right unless it is set. */
function compared() {
  const machine = new ManualClock(Date.parse('2026-11-28T12:00:00.500Z'));
  const changes: (string | undefined)[] = [];
  const clock = new ComparedClock(machine, (fault) => changes.push(fault));
  const answer = (aheadMs = 0, tookMs = 20) =>
    clock.take({ date: new Date(machine.elapsed() + aheadMs).toUTCString(), tookMs });
  return { machine, clock, changes, answer };
}

describe('a clock that is compared', () => {
  it('is that of the machine before the first answer, and after one without a usable date', () => {
    const { machine, clock } = compared();
    machine.setTime(year);
    for (const date of [undefined, 'yesterday']) clock.take({ date, tookMs: 1 });
    expect([clock.now(), clock.fault(), clock.offsetMs]).toEqual([machine.now(), undefined, undefined]);
  });

  it.each([
    ['almost a minute ahead', minute - 2000, undefined],
    ['almost a minute behind', 2000 - minute, undefined],
    ['more than a minute ahead', minute + 2000, '1 minute ahead of'],
    ['more than a minute behind', -minute - 2000, '1 minute behind'],
    ['an hour ahead', hour + 2000, '60 minutes ahead of'],
    ['five hours behind', -5 * hour, '5 hours behind'],
    ['a year ahead', year, '365 days ahead of'],
  ])('%s of the server', (_, byMs, fault) => {
    const { machine, clock, answer } = compared();
    machine.setTime(byMs);
    answer();
    const sentence = (how: string) =>
      `the clock of the operator's node is ${how} the clock of the management API server`;
    expect(clock.fault()).toBe(fault && sentence(fault));
    expect(clock.offsetMs).toBeCloseTo(byMs, -3);
  });

  it('sees a jump before the next answer, and goes on from the time before it', async () => {
    const { machine, clock, answer, changes } = compared();
    answer();
    await machine.advance(hour);
    const before = clock.now();
    machine.setTime(year);
    expect(clock.fault()).toContain('365 days ahead of');
    expect(clock.now()).toBe(before);
    await machine.advance(10 * minute);
    expect(clock.now()).toBe(before + 10 * minute);
    expect(changes).toHaveLength(1);
  });

  it('goes by the server when it was never right', async () => {
    const { machine, clock, answer } = compared();
    machine.setTime(-year);
    answer();
    await machine.advance(minute);
    expect(Math.abs(clock.now() - machine.elapsed())).toBeLessThan(1000);
  });

  it('keeps the time when the server jumps', async () => {
    const { machine, clock, answer } = compared();
    answer();
    await machine.advance(minute);
    answer(year);
    expect(clock.fault()).toContain('365 days behind');
    expect(clock.now()).toBe(machine.now());
  });

  it('is right again after a minute without a difference, and not after servers that differ in turn', async () => {
    const { machine, clock, answer, changes } = compared();
    for (const ahead of [0, hour, 0]) answer(ahead);
    await machine.advance(minute - 1);
    answer();
    expect(clock.fault()).toBe(
      "the clock of the operator's node is within a minute again of the clock of the management API server",
    );
    answer(hour);
    await machine.advance(minute - 1);
    answer();
    expect(clock.fault()).toBeDefined();
    await machine.advance(1);
    expect(clock.fault()).toBeUndefined();
    expect(changes).toHaveLength(2);
    expect(changes[1]).toBeUndefined();
  });

  it('takes no date of an answer that took longer than ten seconds', () => {
    const { clock, answer } = compared();
    answer(hour, 10_001);
    expect(clock.fault()).toBeUndefined();
    answer(hour, 10_000);
    expect(clock.fault()).toBeDefined();
  });

  it('believes the time to which a machine wakes up, once a server says the same', async () => {
    const { machine, clock, answer } = compared();
    answer();
    // The monotonic clock stands while a virtual machine is suspended.
    machine.setTime(hour);
    expect(clock.fault()).toBeDefined();
    answer(hour);
    await machine.advance(minute);
    answer(hour);
    expect([clock.fault(), clock.now()]).toEqual([undefined, machine.now()]);
  });
});
