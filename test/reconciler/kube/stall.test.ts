import { Readable } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { withStallTimer } from '../../../reconciler/kube/stall.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';

const never = new Promise<never>(() => {});

async function collect(stream: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const chunk of stream) text += chunk;
  return text;
}

const options = (clock: ManualClock, signal?: AbortSignal) => ({
  what: 'read the snapshot',
  limitMs: 60_000,
  clock,
  signal,
  stalled: (what: string, limitMs: number) => new Error(`${what}: nothing has moved for ${limitMs / 1000} s`),
});

describe('a stream with a stall timer', () => {
  it('yields every item, and leaves no timer', async () => {
    const clock = new ManualClock();
    expect(await collect(withStallTimer(Readable.from(['a', 'b', 'c']), options(clock)))).toBe('abc');
    expect(clock.pending).toBe(0);
  });

  it('sets one timer and one listener for all items', async () => {
    const clock = new ManualClock();
    const { signal } = new AbortController();
    const setTimer = vi.spyOn(clock, 'setTimer');
    const addEventListener = vi.spyOn(signal, 'addEventListener');
    const items = Array.from({ length: 1_000 }, () => 'a');
    expect((await collect(withStallTimer(Readable.from(items), options(clock, signal)))).length).toBe(1_000);
    expect(setTimer).toHaveBeenCalledTimes(1);
    expect(addEventListener).toHaveBeenCalledTimes(1);
  });

  it('fails when nothing arrives for too long, and destroys the Node stream behind it', async () => {
    const clock = new ManualClock();
    const source = new Readable({ objectMode: true, read: () => {} });
    source.push('a');
    const reading = collect(withStallTimer(source, options(clock))).catch(String);
    await clock.advance(59_999);
    source.push('b');
    await clock.advance(59_999);
    expect(source.destroyed).toBe(false);
    await clock.advance(1);
    expect(await reading).toBe('Error: read the snapshot: nothing has moved for 60 s');
    expect(source.destroyed).toBe(true);
  });

  it('does not wait for a generator that hangs', async () => {
    const clock = new ManualClock();
    async function* hanging(): AsyncGenerator<string> {
      yield 'a';
      await never;
    }
    const reading = collect(withStallTimer(hanging(), options(clock))).catch(String);
    await clock.advance(60_000);
    expect(await reading).toContain('nothing has moved');
  });

  it.each<[string, number, boolean]>([
    ['less than the least speed, a little at a time', 100, true],
    ['the least speed', 2_000, false],
  ])('that sends %s for long fails: %s bytes each 20 s, %s', async (_, bytes, fails) => {
    const clock = new ManualClock();
    async function* trickle(): AsyncGenerator<string> {
      for (let count = 0; count < 30; count++) {
        await new Promise<void>((resolve) => void clock.setTimer(20_000, resolve));
        yield 'x'.repeat(bytes);
      }
    }
    const least = { bytesPerSecond: 100, sizeOf: (text: string) => text.length };
    const reading = collect(withStallTimer(trickle(), { ...options(clock), least })).catch(String);
    await clock.advance(75_000);
    await clock.advance(600_000);
    const expected = fails ? 'Error: read the snapshot: nothing has moved for 60 s' : 'x'.repeat(30 * bytes);
    expect(await reading).toBe(expected);
  });

  it('may be silent for long now and then, if it sends much in between', async () => {
    const clock = new ManualClock();
    async function* bursts(): AsyncGenerator<string> {
      for (let count = 0; count < 5; count++) {
        await new Promise<void>((resolve) => void clock.setTimer(59_000, resolve));
        yield 'x'.repeat(6_000);
      }
    }
    const least = { bytesPerSecond: 100, sizeOf: (text: string) => text.length };
    const reading = collect(withStallTimer(bursts(), { ...options(clock), least }));
    await clock.advance(600_000);
    expect((await reading).length).toBe(30_000);
  });

  it('is not silent for longer than the limit, however much it has sent', async () => {
    const clock = new ManualClock();
    async function* silent(): AsyncGenerator<string> {
      yield 'x'.repeat(600_000);
      await never;
    }
    const least = { bytesPerSecond: 100, sizeOf: (text: string) => text.length };
    const reading = collect(withStallTimer(silent(), { ...options(clock), least })).catch(String);
    await clock.advance(60_000);
    expect(clock.pending).toBe(0);
    expect(await reading).toContain('nothing has moved for 60 s');
  });

  it('does not count the time that its reader takes', async () => {
    const clock = new ManualClock();
    const stream = withStallTimer(Readable.from(['a', 'b']), options(clock));
    expect((await stream.next()).value).toBe('a');
    await clock.advance(600_000);
    expect((await stream.next()).value).toBe('b');
  });

  it('ends with the reason of the signal, also if it was aborted before', async () => {
    const clock = new ManualClock();
    const controller = new AbortController();
    const reading = collect(withStallTimer(new Readable({ read: () => {} }), options(clock, controller.signal)));
    const outcome = reading.catch(String);
    await settled();
    controller.abort(new Error('the provider stops'));
    expect(await outcome).toBe('Error: the provider stops');
    const later = withStallTimer(Readable.from(['a']), options(clock, controller.signal));
    await expect(collect(later)).rejects.toThrow('the provider stops');
    expect(clock.pending).toBe(0);
  });

  it('forwards the error of the stream', async () => {
    const clock = new ManualClock();
    async function* broken(): AsyncGenerator<string> {
      yield 'a';
      throw new Error('etcd went away');
    }
    await expect(collect(withStallTimer(broken(), options(clock)))).rejects.toThrow('etcd went away');
    expect(clock.pending).toBe(0);
  });
});
