import { once } from 'node:events';
import type { Http2Session } from 'node:http2';
import { KubeConfig } from '@kubernetes/client-node';
import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest';
import { ConfigMap } from '../../../constructs/api/resources.ts';
import { KubeClient } from '../../../reconciler/kube/client.ts';
import { connect, connectionFor } from '../../../reconciler/kube/config.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { startConnectProxy } from '../../support/connect-proxy.ts';
import { FlakyProxy } from '../../support/flaky-proxy.ts';
import { type Http2Server, sendJson, startHttp2Server } from '../../support/http2-server.ts';
import { settled } from '../../support/manual-clock.ts';
import { until } from '../../support/until.ts';

const metadata = { namespace: 'default', name: 'map' };
const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata };

let server: Http2Server;
let proxy: FlakyProxy;
let client: KubeClient;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout', 'performance'] });
  // `/slow` is never answered, and a watch never ends.
  server = await startHttp2Server((stream, headers) => {
    if (headers[':path']?.includes('watch=true')) return stream.respond({ ':status': 200 });
    if (headers[':path'] !== '/slow') sendJson(stream, object);
  });
  proxy = await FlakyProxy.start(server.port);
  client = new KubeClient(connectionFor({ ...server.target, server: `https://127.0.0.1:${proxy.port}` }));
});
afterEach(async () => {
  vi.useRealTimers();
  await client.connection.close();
  await proxy.stop();
  await server.stop();
});

/** A watch that the server has begun to answer, and the connection of it. */
async function openWatch() {
  const seen = server.requests.length;
  const watch = client.watch(ConfigMap, { timeoutSeconds: 1500 });
  const next = watch.next();
  let isOver = false;
  next.catch(() => (isOver = true));
  const stream = await until('the watch', () => server.requests[seen]?.stream);
  const event = { type: 'ADDED', object };
  return { watch, next, stream, session: stream.session, isOver: () => isOver, event };
}

/** A request that the server does not answer in time. */
async function notAnswered(): Promise<void> {
  const seen = server.requests.length;
  const call = client.raw('/slow', { deadlineMs: 5_000 });
  call.catch(() => {});
  await until('the request', () => server.requests.length > seen);
  vi.advanceTimersByTime(5_000);
  await expect(call).rejects.toMatchObject({ reason: 'Timeout' });
}

/** Advances the time by which connections are pinged and retired, while the server answers each ping. */
async function pass(seconds: number, session: Http2Session | undefined): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 15) {
    const pinged = session && once(session, 'ping');
    vi.advanceTimersByTime(15_000);
    await pinged;
    await answered(session);
  }
}

/** Returns when the client has read all that the server has sent, the answers to its pings included. */
async function answered(session: Http2Session | undefined): Promise<void> {
  await new Promise((resolve) => session?.ping(resolve));
}

/** Advances the time, while nothing arrives. */
async function passInSilence(seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 15) {
    vi.advanceTimersByTime(15_000);
    await settled();
  }
}

describe('one slow request', () => {
  it('moves later requests to a new connection, and leaves the watches on the old one alone', async () => {
    const { next, stream, session, event } = await openWatch();
    await notAnswered();
    await client.get(ConfigMap, metadata);
    expect(server.accepted).toBe(2);
    await pass(60, session);
    stream.write(`${JSON.stringify(event)}\n`);
    await expect(next).resolves.toMatchObject({ value: event });
  });

  it('ends its connection when the last watch on it has ended', async () => {
    const { next, stream, session } = await openWatch();
    await notAnswered();
    await pass(15, session);
    expect(session?.destroyed).toBe(false);
    stream.end();
    await expect(next).resolves.toMatchObject({ done: true });
    await until('the end of the connection', () => session?.destroyed);
  });

  it('ends its connection at last, whatever the watches on it do', async () => {
    const { watch, next, stream, session, event } = await openWatch();
    await notAnswered();
    stream.write(`${JSON.stringify(event)}\n`);
    await next;
    await pass(35 * 60, session);
    await passInSilence(15);
    await expect(watch.next()).rejects.toMatchObject({ reason: 'Unreachable' });
  });

  it('ends its connection and the watches on it as soon as no new connection can be opened', async () => {
    const { next, session } = await openWatch();
    await notAnswered();
    await pass(15, session);
    proxy.refuse();
    await expect(client.get(ConfigMap, metadata)).rejects.toMatchObject({ reason: 'Unreachable' });
    await expect(next).rejects.toMatchObject({ reason: 'Unreachable' });
    await until('the end of the connection', () => session?.destroyed);
  });

  it('does not keep its connection from ending with the client', async () => {
    const { next, session } = await openWatch();
    await notAnswered();
    await pass(15, session);
    await client.connection.close();
    await expect(next).rejects.toMatchObject({ reason: 'Unreachable' });
    await until('the end of the connection', () => session?.destroyed);
  });
});

async function askToLeave(session: Http2Session | undefined): Promise<void> {
  session?.goaway();
  await answered(session);
}

/** The answer to a request that the server refuses, while a watch is open on the connection of both. */
async function answerAfterRefusal(): Promise<KubeObject> {
  const { session } = await openWatch();
  const answer = client.get(ConfigMap, metadata);
  // The first stream is the watch. What comes after it is refused.
  session?.goaway(0, 1);
  await answered(session);
  vi.advanceTimersByTime(1_000);
  return answer;
}

describe('a connection that the server asks to leave', () => {
  it('stays open for the watches on it, and takes no request any more', async () => {
    const { next, stream, session, event } = await openWatch();
    await askToLeave(session);
    await client.get(ConfigMap, metadata);
    expect(server.accepted).toBe(2);
    // undici pings it no more.
    await passInSilence(135);
    stream.write(`${JSON.stringify(event)}\n`);
    await expect(next).resolves.toMatchObject({ value: event });
  });

  it('ends when the last watch on it has ended', async () => {
    const { next, stream, session } = await openWatch();
    await askToLeave(session);
    stream.end();
    await expect(next).resolves.toMatchObject({ done: true });
    await until('the end of the connection', () => session?.destroyed);
  });

  it('delays a request that the server has refused by a second', async () => {
    expect(await answerAfterRefusal()).toEqual(object);
    expect(server.accepted).toBe(2);
  });

  it('still answers a request that the server has accepted, within a second', async () => {
    const { session } = await openWatch();
    const answer = client.raw('/slow', { deadlineMs: 5_000 });
    const slow = await until('the request', () => server.requests[1]?.stream);
    await askToLeave(session);
    vi.advanceTimersByTime(999);
    sendJson(slow, object);
    await expect(answer).resolves.toBe(JSON.stringify(object));
    expect(server.accepted).toBe(1);
  });
});

test('a request through a proxy that the server has refused is delayed by a second, too', async () => {
  const connectProxy = await startConnectProxy();
  const config = new KubeConfig();
  config.loadFromClusterAndUser(
    {
      name: 'c1',
      server: server.target.server,
      caData: Buffer.from(server.target.ca).toString('base64'),
      skipTLSVerify: false,
      proxyUrl: connectProxy.url,
    },
    { name: 'u1' },
  );
  await client.connection.close();
  client = new KubeClient(await connect(config));
  try {
    expect(await answerAfterRefusal()).toEqual(object);
  } finally {
    await client.connection.close();
    await connectProxy.stop();
  }
});

describe('a connection', () => {
  it('on which nothing arrives any more, not even the answer to a ping, ends within 45 s, and with it its watches', async () => {
    const { next, isOver } = await openWatch();
    proxy.goSilent();
    await passInSilence(15);
    expect(isOver()).toBe(false);
    await passInSilence(30);
    await expect(next).rejects.toThrow('no ping on it was answered for 30 s');
    proxy.heal();
    await client.get(ConfigMap, metadata);
  });

  it('ends within 45 s also when it is retired', async () => {
    const { next, session } = await openWatch();
    await notAnswered();
    await pass(15, session);
    proxy.goSilent();
    await passInSilence(45);
    await expect(next).rejects.toThrow('no ping on it was answered for 30 s');
  });

  it('on which pings are answered keeps a watch for 150 s without a byte, and no longer', async () => {
    const { next, stream, session, isOver } = await openWatch();
    await pass(135, session);
    // A part of an event is enough.
    stream.write('{');
    await answered(session);
    await pass(135, session);
    expect(isOver()).toBe(false);
    await passInSilence(15);
    await expect(next).rejects.toMatchObject({ reason: 'Silent' });
    await client.get(ConfigMap, metadata);
    expect(server.accepted).toBe(2);
  });
});
