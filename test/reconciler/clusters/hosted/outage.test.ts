import { describe, expect, it } from 'vitest';
import { Outage } from '../../../../reconciler/clusters/hosted/outage.ts';
import { KubeError, tooLarge } from '../../../../reconciler/kube/errors.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const unreachable = new KubeError('apply ConfigMap a/b: refused', { code: 0, reason: 'Unreachable' });

/** An outage, and the number of requests it has let through. */
function outage() {
  const clock = new ManualClock();
  const guarded = new Outage(clock);
  const sent: number[] = [];
  const attempt = (error?: Error) =>
    guarded.guard(async () => {
      sent.push(clock.now());
      if (error) throw error;
      return 'answer';
    });
  return { clock, attempt, sent };
}

describe('an API server that does not answer', () => {
  it('gets no request for a second, then for twice as long each time, at most for 15 s', async () => {
    const { clock, attempt, sent } = outage();
    for (const afterMs of [1_000, 2_000, 4_000, 8_000, 15_000, 15_000]) {
      await expect(attempt(unreachable)).rejects.toMatchObject({ name: 'HostedClusterNotReady', afterMs });
      await clock.advance(afterMs - 1);
      await expect(attempt(unreachable)).rejects.toMatchObject({ name: 'HostedClusterNotReady', afterMs: 1 });
      await clock.advance(1);
    }
    expect(sent).toHaveLength(6);
  });

  it('is reported with the cause, in the same words until it is requested again', async () => {
    const { attempt } = outage();
    const message = 'the API server does not answer: apply ConfigMap a/b: refused';
    await expect(attempt(unreachable)).rejects.toThrow(message);
    await expect(attempt()).rejects.toThrow(message);
  });

  it('counts once for concurrent requests that fail', async () => {
    const { clock, attempt } = outage();
    await Promise.allSettled([attempt(unreachable), attempt(unreachable), attempt(unreachable)]);
    await clock.advance(1_000);
    await expect(attempt(unreachable)).rejects.toMatchObject({ afterMs: 2_000 });
  });

  it('gets a request at once after it has answered again', async () => {
    const { clock, attempt } = outage();
    await expect(attempt(unreachable)).rejects.toThrow('the API server does not answer');
    await clock.advance(1_000);
    await expect(attempt()).resolves.toBe('answer');
    await expect(attempt(unreachable)).rejects.toMatchObject({ afterMs: 1_000 });
  });
});

it.each<[string, Error]>([
  ['a refusal', new KubeError('forbidden', { code: 403, reason: 'Forbidden' })],
  ['the failure of a webhook', new KubeError('failed calling webhook', { code: 500, reason: 'InternalError' })],
  ['a fault of the operator', new TypeError('x is undefined')],
])('is not an outage: %s', async (_, error) => {
  const { attempt } = outage();
  await expect(attempt(error)).rejects.toBe(error);
  await expect(attempt()).resolves.toBe('answer');
});

it('an API server whose answers are too large gets no request for a minute, and is reported as what it is', async () => {
  const { clock, attempt, sent } = outage();
  const huge = tooLarge('get Node n1: the answer is larger than 16 MiB');
  const message = `the operator does not read the answer of the API server: ${huge.message}`;
  await expect(attempt(huge)).rejects.toMatchObject({ name: 'HostedClusterNotReady', message, afterMs: 60_000 });
  await clock.advance(59_999);
  await expect(attempt()).rejects.toThrow(message);
  expect(sent).toHaveLength(1);
  await clock.advance(1);
  await expect(attempt()).resolves.toBe('answer');
});
