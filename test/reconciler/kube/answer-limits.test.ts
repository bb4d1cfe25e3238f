import type { ServerHttp2Stream } from 'node:http2';
import { afterEach, describe, expect, it } from 'vitest';
import { ConfigMap } from '../../../constructs/api/resources.ts';
import { CacheBudget } from '../../../reconciler/kube/cache-budget.ts';
import { KubeClient } from '../../../reconciler/kube/client.ts';
import { connectionFor } from '../../../reconciler/kube/config.ts';
import { isTooLarge } from '../../../reconciler/kube/errors.ts';
import { Informer } from '../../../reconciler/kube/informer.ts';
import { ReadingSpeed } from '../../../reconciler/kube/reading-speed.ts';
import { type AnswerStream, type Http2Server, sendJson, startHttp2Server } from '../../support/http2-server.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { until } from '../../support/until.ts';

const kilobyte = 1024;
const maxBytes = 64 * kilobyte;
const name = { namespace: 'default', name: 'map' };

let server: Http2Server;
let client: KubeClient;

afterEach(async () => {
  await client.close();
  await server.stop();
});

async function serve(answer: AnswerStream): Promise<void> {
  server = await startHttp2Server(answer);
  client = new KubeClient(connectionFor(server.target), { maxBytes });
}

/** Sends without end, as fast as the client reads. */
function sendEndlessly(stream: ServerHttp2Stream, status = 200, begin = '', part = 'x'.repeat(16 * kilobyte)): void {
  stream.respond({ ':status': status });
  stream.write(begin);
  const more = (): void => {
    while (!stream.destroyed && stream.write(part));
  };
  stream.on('drain', more);
  more();
}

const configMap = (index: number, bytes: number) => ({
  metadata: { namespace: 'default', name: `map-${index}`, uid: `${index}`, resourceVersion: `${index + 1}` },
  data: { text: 'x'.repeat(bytes) },
});

/** Answers a list with the requested page of so many objects, and a watch never. */
function sendPages(stream: ServerHttp2Stream, path: string, objects: readonly object[]): void {
  const query = new URL(path, 'https://host').searchParams;
  if (query.get('watch')) return stream.respond({ ':status': 200 });
  const [from, limit] = [Number(query.get('continue') ?? 0), Number(query.get('limit'))];
  const next = from + limit < objects.length ? `${from + limit}` : '';
  sendJson(stream, {
    items: objects.slice(from, from + limit),
    metadata: { resourceVersion: '1000', continue: next },
  });
}

describe('an answer without end', () => {
  it.each([200, 500])(
    'with status %i is read up to its limit, cancelled, and harms no other request',
    async (status) => {
      await serve((stream, headers) => {
        if (headers[':path'] === '/version') sendJson(stream, {});
        else sendEndlessly(stream, status);
      });
      const error = await client.get(ConfigMap, name).catch((failure: unknown) => failure);
      expect(isTooLarge(error)).toBe(true);
      expect(String(error)).toContain('get ConfigMap default/map: the answer is larger than 0.0625 MiB');
      await until('the cancellation', () => server.requests[0]?.stream.destroyed);
      await client.raw('/version');
      expect([server.accepted, server.requests.length]).toEqual([1, 2]);
    },
  );

  it('to a watch ends it', async () => {
    await serve((stream) => sendEndlessly(stream, 200, '{"type":"ADDED","object":"'));
    const error = await client
      .watch(ConfigMap)
      .next()
      .catch((failure: unknown) => failure);
    expect(isTooLarge(error)).toBe(true);
    await until('the cancellation', () => server.requests[0]?.stream.destroyed);
  });

  it('to a watch is not too large if each of its lines is not', async () => {
    const line = `${JSON.stringify({ type: 'ADDED', object: configMap(1, 40 * kilobyte) })}\n`;
    await serve((stream) => {
      stream.respond({ ':status': 200 });
      stream.end(line.repeat(10));
    });
    let events = 0;
    for await (const { type } of client.watch(ConfigMap)) if (type === 'ADDED') events += 1;
    expect(events).toBe(10);
  });
});

describe('events without end', () => {
  it('are read only as fast as the limit of their server allows', async () => {
    await serve((stream) => {
      const line = `${JSON.stringify({ type: 'ADDED', object: configMap(1, 1000) })}\n`;
      sendEndlessly(stream, 200, line, line.repeat(10));
    });
    await client.close();
    const speed = new ReadingSpeed({ burstBytes: 100 * kilobyte, bytesPerSecond: 100 * kilobyte });
    client = new KubeClient(connectionFor(server.target), { speed });
    const signal = AbortSignal.timeout(1_000);
    let bytes = 0;
    const read = async (): Promise<void> => {
      for await (const event of client.watch(ConfigMap, { signal })) bytes += JSON.stringify(event).length;
    };
    await Promise.allSettled([read(), read()]);
    // The burst, one second, and a chunk of each stream that was read before its rest.
    expect(bytes).toBeGreaterThan(100 * kilobyte);
    expect(bytes).toBeLessThan(400 * kilobyte);
  });

  it('that end every watch at once are asked for less and less often', async () => {
    await serve((stream, headers) => {
      if (!headers[':path']?.includes('watch=true')) return sendPages(stream, headers[':path'] ?? '', []);
      stream.respond({ ':status': 200 });
      stream.end(`${JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '1000' } } })}\n`);
    });
    const clock = new ManualClock();
    const delays: number[] = [];
    const impatient = { now: () => clock.now(), elapsed: () => clock.elapsed(), setTimer };
    function setTimer(delayMs: number, callback: () => void): () => void {
      delays.push(delayMs);
      const timer = setTimeout(callback, 1);
      return () => clearTimeout(timer);
    }
    const informer = new Informer({ client, resource: ConfigMap, clock: impatient, random: () => 0.5 });
    informer.start();
    await until('some failures', () => delays.length >= 9);
    await informer.stop();
    expect(delays.slice(0, 9)).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 12_800, 15_000]);
  });
});

describe('a list', () => {
  it('of pages without end is not read to its end', async () => {
    await serve((stream) => sendJson(stream, { items: [], metadata: { resourceVersion: '1', continue: 'more' } }));
    await expect(client.list(ConfigMap)).rejects.toThrow('list configmaps: the list has more than 1000 pages');
  });

  it('of large objects is read in smaller pages', async () => {
    const objects = Array.from({ length: 30 }, (_, index) => configMap(index, 10 * kilobyte));
    await serve((stream, headers) => sendPages(stream, headers[':path'] ?? '', objects));
    const { items } = await client.list(ConfigMap);
    expect(items.map(({ metadata }) => metadata.name)).toEqual(objects.map(({ metadata }) => metadata.name));
    const limits = server.requests.map(({ path }) => new URL(path, 'https://host').searchParams.get('limit'));
    expect(limits.slice(0, 3)).toEqual(['500', '62', '7']);
  });

  it('with an object that is larger than an answer fails, and says so', async () => {
    await serve((stream, headers) => sendPages(stream, headers[':path'] ?? '', [configMap(1, 100 * kilobyte)]));
    await expect(client.list(ConfigMap)).rejects.toThrow('list configmaps: the answer is larger than 0.0625 MiB');
    expect(server.requests).toHaveLength(4);
  });
});

describe('informers with a common budget', () => {
  it('hold no more than that, read no more than that, and try again only after a while', async () => {
    const objects = Array.from({ length: 3_000 }, (_, index) => configMap(index, 100));
    await serve((stream, headers) => sendPages(stream, headers[':path'] ?? '', objects));
    const clock = new ManualClock();
    const errors: unknown[] = [];
    const onError = (error: unknown) => void errors.push(error);
    const budget = new CacheBudget(256 * kilobyte);
    const informer = new Informer({ client, resource: ConfigMap, clock, room: budget, onError });
    informer.start();
    await until('the failure', () => informer.problem);
    expect(informer.problem?.message).toBe('the objects that the operator watches are larger than 0.25 MiB together');
    expect([informer.isSynced, informer.list().length]).toEqual([false, 0]);
    const { length } = server.requests;
    // The whole list has fifty pages of this size.
    expect(length).toBeLessThan(25);
    await clock.advance(4 * 60_000 - 1);
    expect([server.requests.length, errors.length]).toEqual([length, 1]);

    objects.length = 100;
    await clock.advance(2 * 60_000 + 1);
    await until('the list', () => informer.isSynced);
    expect([informer.problem, informer.list().length]).toEqual([undefined, 100]);
    await informer.stop();
  });

  it('stop to follow a watch that exceeds it', async () => {
    const event = (index: number) => `${JSON.stringify({ type: 'ADDED', object: configMap(index, 10 * kilobyte) })}\n`;
    await serve((stream, headers) => {
      if (!headers[':path']?.includes('watch=true')) return sendPages(stream, headers[':path'] ?? '', []);
      stream.respond({ ':status': 200 });
      for (let index = 1000; index < 1050; index++) stream.write(event(index));
    });
    const budget = new CacheBudget(256 * kilobyte);
    const informer = new Informer({ client, resource: ConfigMap, clock: new ManualClock(), room: budget });
    informer.start();
    await until('the failure', () => informer.problem);
    expect(informer.list().length).toBeLessThan(26);
    await until('the end of the watch', () => server.requests.at(-1)?.stream.destroyed);
    await informer.stop();
  });

  it('count an object that changes or goes once', () => {
    const budget = new CacheBudget(300);
    const [one, other] = [{ text: 'x'.repeat(60) }, { text: 'y'.repeat(70) }];
    const [holder, second] = [{}, {}];
    budget.add(holder, one, undefined);
    budget.add(holder, other, one);
    expect(() => budget.add(second, one, undefined)).toThrow('larger than');
    budget.remove(holder, other);
    budget.add(second, one, undefined);
    budget.set(second, []);
    budget.add(holder, other, undefined);
  });
});
