import { describe, expect, it } from 'vitest';
import { resultsOf, settleAll } from '../../../reconciler/kube/concurrency.ts';
import { settled } from '../../support/manual-clock.ts';

describe('settleAll', () => {
  it('keeps to the limit and the order, and runs all items', async () => {
    let [running, most] = [0, 0];
    const outcomes = await settleAll([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
      most = Math.max(most, ++running);
      await settled();
      running--;
      if (item === 2) throw new Error('two');
      return item * 10;
    });
    expect(most).toBe(3);
    expect(outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : 'failed'))).toEqual([
      10,
      'failed',
      30,
      40,
      50,
      60,
      70,
    ]);
  });
});

describe('resultsOf', () => {
  const failed = (message: string) => ({ status: 'rejected', reason: new Error(message) }) as const;
  const done = { status: 'fulfilled', value: 1 } as const;

  it('returns the results when all succeeded', () => {
    expect(resultsOf([done, done])).toEqual([1, 1]);
  });

  it('throws a single failure as it is', () => {
    expect(() => resultsOf([done, failed('one')])).toThrow(new Error('one'));
  });

  it('throws several failures together, with the message of the first', () => {
    expect(() => resultsOf([failed('one'), done, failed('two')])).toThrow(
      new AggregateError([new Error('one'), new Error('two')], 'one (and 1 more)'),
    );
  });
});
