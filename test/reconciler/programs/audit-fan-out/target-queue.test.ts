import { expect, it } from 'vitest';
import { type Attempt, TargetQueue } from '../../../../reconciler/programs/audit-fan-out/target-queue.ts';

const records = { items: Buffer.from('{}'), count: 1 };

function queueWith(attempts: Attempt[]) {
  const queue = new TargetQueue({
    send: async () => attempts.shift() ?? { kind: 'delivered' },
    limitBytes: 100,
    requestBytes: 100,
    retries: true,
    backOffMs: () => 60_000,
    onDelivered: () => {},
    onDropped: () => {},
    onHealth: () => {},
  });
  return queue;
}

it('a receiver that has taken records is reported as such', async () => {
  expect(await queueWith([]).offer(records)).toBe(true);
});

it('a receiver that has failed counts as such at once for later records, which wait for the next attempt', async () => {
  const queue = queueWith([{ kind: 'failed', why: 'the server answered 500' }]);
  expect(await queue.offer(records)).toBe(false);
  expect(await queue.offer(records)).toBe(false);
  expect(queue.waiting).toEqual({ bytes: 4, records: 2 });
  await queue.end(new Promise(() => {}));
  expect(queue.waiting).toEqual({ bytes: 0, records: 0 });
});
