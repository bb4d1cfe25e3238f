import { describe, expect, it } from 'vitest';
import { AnswerBudget, type HeldText, type ServerAnswers } from '../../../reconciler/kube/answer-budget.ts';
import { CacheBudget } from '../../../reconciler/kube/cache-budget.ts';
import { kubeErrorOf } from '../../../reconciler/kube/errors.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';

const limits = { bytes: 300, bytesPerServer: 200, freeBytes: 10, patienceMs: 250 };

class Reader {
  readonly text: HeldText;
  state: 'reads' | 'waits' | 'given up' | 'ended' = 'reads';
  readonly ends = new AbortController();

  constructor(server: ServerAnswers) {
    this.text = server.open(() => (this.state = 'given up'), this.ends.signal);
  }

  async hold(bytes: number): Promise<void> {
    this.state = 'waits';
    void this.text.hold(bytes).then(
      () => (this.state = 'reads'),
      () => {
        if (this.state === 'waits') this.state = 'ended';
      },
    );
    await settled();
  }
}

describe('the room for answers', () => {
  it('of one server lets others read, and a text that has no room waits until there is some', async () => {
    const budget = new AnswerBudget(limits, new ManualClock());
    const one = budget.server();
    const [first, second, other] = [new Reader(one), new Reader(one), new Reader(budget.server())];
    await first.hold(150);
    await second.hold(60);
    await other.hold(150);
    expect([first.state, second.state, other.state, budget.bytes]).toEqual(['reads', 'waits', 'reads', 300]);
    first.text.release();
    await settled();
    expect([second.state, budget.bytes]).toEqual(['reads', 210]);
  });

  it('of all servers has a little for each one that never waits', async () => {
    const budget = new AnswerBudget(limits, new ManualClock());
    const [one, two, small, large] = [1, 2, 3, 4].map(() => new Reader(budget.server())) as [
      Reader,
      Reader,
      Reader,
      Reader,
    ];
    await one.hold(150);
    await two.hold(150);
    await small.hold(10);
    await large.hold(11);
    expect([small.state, large.state]).toEqual(['reads', 'waits']);
  });

  it('goes to the server that has least when there is some again', async () => {
    const budget = new AnswerBudget(limits, new ManualClock());
    const full = budget.server();
    const [first, second] = [new Reader(full), new Reader(full)];
    const [ends, other, small] = [1, 2, 3].map(() => new Reader(budget.server())) as [Reader, Reader, Reader];
    await first.hold(150);
    await other.hold(100);
    await ends.hold(50);
    await second.hold(50);
    await small.hold(50);
    ends.text.release();
    await settled();
    expect([second.state, small.state]).toEqual(['waits', 'reads']);
  });

  it('is taken from the largest text of the server with the most when one waits for too long', async () => {
    const clock = new ManualClock();
    const budget = new AnswerBudget(limits, clock);
    const hostile = budget.server();
    const [large, small, waiting] = [new Reader(hostile), new Reader(hostile), new Reader(budget.server())];
    await large.hold(140);
    await small.hold(60);
    const another = new Reader(budget.server());
    await another.hold(100);
    await waiting.hold(50);
    await clock.advance(249);
    expect([large.state, waiting.state]).toEqual(['reads', 'waits']);
    await clock.advance(1);
    expect([large.state, small.state, another.state, waiting.state]).toEqual(['given up', 'reads', 'reads', 'reads']);
    const error: unknown = await large.text.hold(150).catch((failure: unknown) => failure);
    expect(kubeErrorOf(error)).toMatchObject({
      reason: 'Timeout',
      message: expect.stringContaining('was given up') as unknown,
    });
  });

  it('does not keep what its call has ended', async () => {
    const budget = new AnswerBudget(limits, new ManualClock());
    const one = budget.server();
    const [first, second] = [new Reader(one), new Reader(one)];
    await first.hold(150);
    await second.hold(100);
    second.ends.abort();
    await settled();
    expect([second.state, budget.bytes]).toEqual(['ended', 150]);
    first.ends.abort();
    expect(budget.bytes).toBe(0);
  });

  it('is enough for one after another when all wait for each other', async () => {
    const clock = new ManualClock();
    const budget = new AnswerBudget(limits, clock);
    const readers = Array.from({ length: 6 }, () => new Reader(budget.server()));
    for (const reader of readers) await reader.hold(50);
    for (const reader of readers) await reader.hold(120);
    expect(new Set(readers.map(({ state }) => state))).toEqual(new Set(['waits']));
    await clock.advance(2_000);
    expect(readers.filter(({ state }) => state === 'waits')).toEqual([]);
    expect(readers.some(({ state }) => state === 'reads')).toBe(true);
    expect(budget.bytes).toBeLessThanOrEqual(limits.bytes);
  });
});

describe('the room for objects', () => {
  const object = (bytes: number) => ({ text: 'x'.repeat(bytes) });

  it('of all clusters is shared beyond what each has on its own', () => {
    const room = { limitBytes: 4_000, ownBytes: 1_000, usedBytes: 0 };
    const [hostile, second, good] = [1, 2, 3].map(() => new CacheBudget(10_000, room)) as [
      CacheBudget,
      CacheBudget,
      CacheBudget,
    ];
    hostile.add(hostile, object(4_000));
    expect(() => second.add(second, object(2_000))).toThrow('the objects of all clusters beyond that');
    good.add(good, object(800));
    hostile.close();
    second.add(second, object(2_000));
    second.clear(second);
    expect(room.usedBytes).toBe(0);
  });

  it('weighs values: empty objects are much heavier than their text', () => {
    const budget = new CacheBudget(1024 * 1024);
    const bomb = { x: Array.from({ length: 20_000 }, () => ({})) };
    expect(JSON.stringify(bomb).length).toBeLessThan(64 * 1024);
    expect(() => budget.add(budget, bomb)).toThrow('larger than 1 MiB');
  });
});
