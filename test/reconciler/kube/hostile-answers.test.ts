import type { ServerHttp2Stream } from 'node:http2';
import { afterEach, describe, expect, it } from 'vitest';
import { ConfigMap } from '../../../constructs/api/resources.ts';
import { HostedRooms } from '../../../reconciler/clusters/hosted/rooms.ts';
import { hostedConnector, longestAnswerBytes } from '../../../reconciler/clusters/hosted/connect.ts';
import { keptApplied } from '../../../reconciler/clusters/hosted/kept-objects.ts';
import type { KubernetesApi } from '../../../reconciler/kube/client.ts';
import { kubeErrorOf } from '../../../reconciler/kube/errors.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { weightOf } from '../../../reconciler/kube/weight.ts';
import { type AnswerStream, type Http2Server, sendJson, startHttp2Server } from '../../support/http2-server.ts';
import { ManualClock } from '../../support/manual-clock.ts';

/** What the operator may have read of an answer, and keep of it, in bytes. */
interface Attempt {
  readonly read: number;
  readonly kept: number;
  readonly ends: 'TooLarge' | 'Timeout' | 'SyntaxError' | 'kept' | number;
}

const name = { namespace: 'default', name: 'map' };
const sent = { apiVersion: 'v1', kind: 'ConfigMap', metadata: name };
const metadata = '"metadata":{"name":"map","namespace":"default","uid":"1","resourceVersion":"5"';
const start = `{"apiVersion":"v1","kind":"ConfigMap",${metadata}}`;

let server: Http2Server | undefined;
let client: KubernetesApi | undefined;
let sentBytes = 0;

afterEach(async () => {
  await client?.close();
  await server?.stop();
});

/** A client as that of a hosted cluster is, with its limits. */
async function serve(answer: AnswerStream): Promise<KubernetesApi> {
  server = await startHttp2Server(answer);
  const { ca, server: url } = server.target;
  const at = new URL(url);
  const room = new HostedRooms(new ManualClock()).open();
  const connect = hostedConnector({ ca: String(ca) }, { room });
  client = connect({ host: at.hostname, port: Number(at.port) }, { certificate: '', key: '' }, {});
  return client;
}

/** Sends a text, of which a part is repeated until so many bytes are sent, as fast as the client reads. */
function send(
  stream: ServerHttp2Stream,
  begin: string,
  part: (index: number) => string,
  end: string,
  bytes = Infinity,
): void {
  stream.respond({ ':status': 200, 'content-type': 'application/json' });
  sentBytes = begin.length;
  stream.write(begin);
  let index = 0;
  const more = (): void => {
    for (let isRoom = true; isRoom && !stream.destroyed;) {
      if (sentBytes >= bytes) return void stream.end(end);
      const text = Array.from({ length: 1_000 }, () => part(index++)).join('');
      sentBytes += text.length;
      isRoom = stream.write(text);
    }
  };
  stream.on('drain', more);
  more();
}

const mebibyte = 1024 * 1024;

/** What a socket and a stream have in their buffers besides what was read. */
const bufferedBytes = mebibyte;

const bombs: Readonly<Record<string, [begin: string, part: (index: number) => string, end: string, Attempt]>> = {
  'empty objects': [`${start},"x":[{}`, () => ',{}', ']}', { read: mebibyte, kept: 0, ends: 'TooLarge' }],
  'empty arrays': [`${start},"x":[[]`, () => ',[]', ']}', { read: mebibyte, kept: 0, ends: 'TooLarge' }],
  numbers: [`${start},"x":[1`, () => ',2', ']}', { read: mebibyte, kept: 0, ends: 'TooLarge' }],
  labels: [
    `{"apiVersion":"v1","kind":"ConfigMap",${metadata},"labels":{"a":""`,
    (index) => `,"z${index}":""`,
    '}}}',
    { read: 4 * mebibyte, kept: 0, ends: 'TooLarge' },
  ],
  'levels of arrays': [`${start},"x":`, () => '[', ']', { read: mebibyte, kept: 0, ends: 'TooLarge' }],
  blanks: [start, () => ' ', '}', { read: longestAnswerBytes, kept: 0, ends: 'TooLarge' }],
  'one text': [`${start},"x":"`, () => 'x', '"}', { read: longestAnswerBytes, kept: 0, ends: 'TooLarge' }],
  'one number': [`${start},"x":`, () => '9', '}', { read: longestAnswerBytes, kept: 0, ends: 'TooLarge' }],
};

describe('an answer without end of', () => {
  it.each(Object.entries(bombs))('%s is given up within its bound', async (_, [begin, part, end, attempt]) => {
    const hosted = await serve((stream) => send(stream, begin, part, end));
    // The bytes are what ends it, on a busy machine too; the deadline has a test of its own.
    const options = { fieldManager: 'us', deadlineMs: 60_000 };
    const error = await hosted.apply(sent, options).catch((failure: unknown) => failure);
    expect(kubeErrorOf(error)?.reason).toBe(attempt.ends);
    expect(sentBytes).toBeLessThan(attempt.read + bufferedBytes);
  });

  it.each(Object.entries(bombs))(
    '%s on a watch is given up within its bound',
    async (_, [begin, part, end, attempt]) => {
      const hosted = await serve((stream) => send(stream, `{"type":"ADDED","object":${begin}`, part, end));
      const error = await hosted
        .watch(ConfigMap)
        .next()
        .catch((failure: unknown) => failure);
      expect(kubeErrorOf(error)?.reason).toBe(attempt.ends);
      expect(sentBytes).toBeLessThan(attempt.read + bufferedBytes);
    },
  );
});

describe('of an answer that is just not refused, with', () => {
  const most = 8 * mebibyte;
  it.each<[string, string, (index: number) => string, string, number]>([
    ['190,000 values', `${start},"x":[{}`, () => ',{}', ']}', 95_000 * 3],
    [
      '90,000 labels',
      `{"apiVersion":"v1","kind":"ConfigMap",${metadata},"labels":{"a":""`,
      (at) => `,"z${at}":""`,
      '}}}',
      1.1 * mebibyte,
    ],
    ['a long text', `${start},"data":{"x":"`, () => 'x', '"}}', most],
    ['a long number', `${start},"data":{"x":`, () => '9', '}}', most],
    ['blanks', start, () => ' ', '}', most],
    [
      'long names',
      `{"apiVersion":"v1","kind":"Other","metadata":{"name":"`,
      () => 'x',
      '","uid":"1","resourceVersion":"5"}}',
      most,
    ],
  ])('%s, nothing is kept but what the operator uses', async (_, begin, part, end, bytes) => {
    const hosted = await serve((stream) => send(stream, begin, part, end, bytes));
    const answer: KubeObject = await hosted.apply(sent, { fieldManager: 'us' });
    const kept = keptApplied(answer, sent);
    expect(kept).toMatchObject({ ...sent, metadata: { ...name, uid: '1', resourceVersion: '5' } });
    expect(weightOf(kept)).toBeLessThan(1_000);
  });
});

describe('a refusal', () => {
  it('of any length is kept up to a few KiB, and with a few causes', async () => {
    const causes = Array.from({ length: 1_000 }, () => ({ message: 'x'.repeat(100), field: 'y', reason: 'z' }));
    const status = {
      kind: 'Status',
      code: 422,
      message: 'm'.repeat(200_000),
      reason: 'r'.repeat(100_000),
      details: { causes },
    };
    const hosted = await serve((stream) => {
      stream.respond({ ':status': 422 });
      stream.end(JSON.stringify(status));
    });
    const error = kubeErrorOf(await hosted.apply(sent, { fieldManager: 'us' }).catch((failure: unknown) => failure));
    expect(error?.code).toBe(422);
    expect(weightOf([error?.message, error?.reason, error?.causes])).toBeLessThan(32 * 1024);
  });

  it('longer than any is not read', async () => {
    const hosted = await serve((stream) => {
      stream.respond({ ':status': 500 });
      stream.end('x'.repeat(2 * mebibyte));
    });
    await expect(hosted.apply(sent, { fieldManager: 'us' })).rejects.toThrow('the answer is larger than 1 MiB');
  });
});

it('a redirect is an error, and is not followed', async () => {
  const hosted = await serve((stream, headers) => {
    if (headers[':path'] !== '/version') return sendJson(stream, {});
    stream.respond({ ':status': 307, location: '/elsewhere' });
    stream.end();
  });
  await expect(hosted.raw('/version')).rejects.toThrow('the server answered 307');
  expect(server?.requests.map(({ path }) => path)).toEqual(['/version']);
});

it('an answer that never ends ends at the deadline of the client', async () => {
  const hosted = await serve((stream) => {
    stream.respond({ ':status': 200 });
    stream.write(start);
  });
  const error = await hosted.apply(sent, { fieldManager: 'us', deadlineMs: 200 }).catch((failure: unknown) => failure);
  expect(kubeErrorOf(error)?.reason).toBe('Timeout');
});

it('a list whose kept objects are more than the room of its cluster is not read to its end', async () => {
  let pages = 0;
  const items = Array.from({ length: 500 }, (_, at) => ({
    metadata: { name: `map-${at}`, uid: `${at}`, resourceVersion: '1' },
    data: { text: 'x'.repeat(2_000) },
  }));
  const hosted = await serve((stream) => {
    pages += 1;
    sendJson(stream, { items, metadata: { resourceVersion: '1', continue: 'more' } });
  });
  await expect(hosted.list(ConfigMap)).rejects.toThrow(
    'the objects that the operator watches are larger than 32 MiB together',
  );
  expect(pages).toBeLessThan(40);
});
