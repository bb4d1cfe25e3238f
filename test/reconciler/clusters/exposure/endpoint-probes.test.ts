import { beforeEach, describe, expect, it } from 'vitest';
import { EndpointProbes } from '../../../../reconciler/clusters/exposure/endpoint-probes.ts';
import { ManualClock, settled } from '../../../support/manual-clock.ts';

const key = 'team/c1';
let clock: ManualClock;
let probes: EndpointProbes;
let results: string[];
let attempts: PromiseWithResolvers<void>[];
beforeEach(() => {
  clock = new ManualClock();
  [results, attempts] = [[], []];
  probes = new EndpointProbes({ clock, onResult: (of) => results.push(of) });
});

const attempt = () => {
  const { promise, ...rest } = Promise.withResolvers<void>();
  attempts.push({ promise, ...rest });
  return promise;
};
const works = async () => void attempts.push(Promise.withResolvers());
const fails = async () => {
  await works();
  throw new Error(`attempt ${attempts.length}`);
};

/** Probes, and waits no longer than a reconcile would. */
async function probe(inputsKey: unknown, how: () => Promise<void> = attempt) {
  const result = probes.of(key).probe(inputsKey, how);
  await clock.advance(250);
  return result;
}

describe('an endpoint', () => {
  it('that works is probed again when an input changes, and after nine minutes', async () => {
    expect([await probe('a', works), await probe('a', works)]).toEqual([{ kind: 'works' }, { kind: 'works' }]);
    expect(attempts).toHaveLength(1);
    await probe('b', works);
    expect(attempts).toHaveLength(2);
    await clock.advance(9 * 60_000);
    await probe('b', works);
    expect(attempts).toHaveLength(3);
    expect([results, clock.pending]).toEqual([[], 0]);
  });

  it('that fails is probed less and less often, at least every half minute, and at once when an input changes', async () => {
    const waits: number[] = [];
    for (let times = 0; times < 11; times++) {
      const result = await probes.of(key).probe('a', fails);
      if (result.kind !== 'fails') throw new Error(`it ${result.kind}`);
      waits.push((result.retryAt?.getTime() ?? 0) - clock.now());
      await clock.advance((waits.at(-1) ?? 0) - 1);
      expect(await probes.of(key).probe('a', fails)).toEqual(result);
      await clock.advance(1);
    }
    expect(waits).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]);
    expect(await probes.of(key).probe('b', fails)).toMatchObject({ retryAt: new Date(clock.now() + 100) });
    expect(attempts).toHaveLength(12);
  });

  it('is probed apart from its tunnel, which is probed every five minutes when it fails', async () => {
    expect(await probes.of(key).probe('a', works)).toEqual({ kind: 'works' });
    const waits: number[] = [];
    for (let times = 0; times < 14; times++) {
      const result = await probes.of(key, 'tunnel').probe('a', fails);
      if (result.kind !== 'fails') throw new Error(`it ${result.kind}`);
      waits.push((result.retryAt?.getTime() ?? 0) - clock.now());
      await clock.advance(waits.at(-1) ?? 0);
    }
    expect(waits.slice(-3)).toEqual([204_800, 300_000, 300_000]);
    probes.forget(key);
    expect(await probes.of(key, 'tunnel').probe('a', works)).toEqual({ kind: 'works' });
  });

  it('that is slow to answer is not waited for, and onResult reports the end of the probe', async () => {
    expect(await probe('a')).toEqual({ kind: 'unknown' });
    expect(await probes.of(key).probe('a', attempt)).toEqual({ kind: 'unknown' });
    expect([attempts.length, results]).toEqual([1, []]);
    attempts[0]?.resolve();
    await settled();
    expect(results).toEqual([key]);
    expect(await probes.of(key).probe('a', attempt)).toEqual({ kind: 'works' });
    expect(attempts).toHaveLength(1);
  });

  it('that worked is reported to work until a slow probe fails', async () => {
    await probe('a', works);
    expect(await probe('b')).toEqual({ kind: 'works' });
    attempts[1]?.reject(new Error('gone'));
    await settled();
    expect(await probes.of(key).probe('b', works)).toMatchObject({ kind: 'fails', error: new Error('gone') });
  });

  it('is not reported by a probe that started before an input changed', async () => {
    await probe('a');
    await probe('b');
    attempts[0]?.reject(new Error('old'));
    attempts[1]?.resolve();
    await settled();
    expect(results).toEqual([key]);
    expect(await probes.of(key).probe('b', attempt)).toEqual({ kind: 'works' });
  });

  it('that was forgotten is probed again', async () => {
    await probe('a', works);
    probes.forget(key);
    expect(await probe('a')).toEqual({ kind: 'unknown' });
  });
});
