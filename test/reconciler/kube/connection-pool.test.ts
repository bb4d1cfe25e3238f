import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ConfigMap } from '../../../constructs/api/resources.ts';
import { KubeClient } from '../../../reconciler/kube/client.ts';
import { connectionFor } from '../../../reconciler/kube/config.ts';
import { FlakyProxy } from '../../support/flaky-proxy.ts';
import { type Http2Server, sendJson, startHttp2Server } from '../../support/http2-server.ts';
import { until } from '../../support/until.ts';

const metadata = { namespace: 'default', name: 'map' };
const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata };

let server: Http2Server;
let proxy: FlakyProxy;
let client: KubeClient;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
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
  await client.close();
  await proxy.stop();
  await server.stop();
});

/** A watch whose next event is awaited. */
async function openWatch() {
  const watch = client.watch(ConfigMap, { timeoutSeconds: 1500 });
  const next = watch.next();
  next.catch(() => {});
  await until('the watch', () => server.requests.length > 0);
  return { next };
}

/** A request that the server does not answer in time. */
async function notAnswered(): Promise<void> {
  const call = client.raw('/slow', { deadlineMs: 5_000 });
  call.catch(() => {});
  await until('the request', () => server.requests.length > 1);
  vi.advanceTimersByTime(5_000);
  await expect(call).rejects.toMatchObject({ reason: 'Timeout' });
}

/** Advances the time by which connections are pinged, and lets answers arrive meanwhile. */
async function pass(seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 15) {
    vi.advanceTimersByTime(15_000);
    await sleep(20);
  }
}

describe('a connection', () => {
  it('keeps its watches when one request on it is not answered in time, and the next request uses a new one', async () => {
    const { next } = await openWatch();
    await notAnswered();
    await client.get(ConfigMap, metadata);
    expect(server.accepted).toBe(2);
    await pass(60);
    const watched = server.requests[0]?.stream;
    watched?.write(`${JSON.stringify({ type: 'ADDED', object })}\n`);
    await expect(next).resolves.toMatchObject({ value: { type: 'ADDED', object } });
  });

  it('is closed with the last watch on it once it is retired', async () => {
    const { next } = await openWatch();
    await notAnswered();
    const session = server.requests[0]?.stream.session;
    server.requests[0]?.stream.end();
    await expect(next).resolves.toMatchObject({ done: true });
    await until('the end of the connection', () => session?.destroyed);
  });

  it('is closed with its watches when its client is, also once it is retired', async () => {
    const { next } = await openWatch();
    await notAnswered();
    await client.close();
    await expect(next).rejects.toMatchObject({ reason: 'Unreachable' });
  });

  it('on which nothing arrives for 45 s, not even the answer to a ping, is closed with its watches', async () => {
    const { next } = await openWatch();
    proxy.goSilent();
    let isOver = false;
    void next.catch(() => (isOver = true));
    await pass(30);
    expect(isOver).toBe(false);
    await pass(30);
    await expect(next).rejects.toThrow('the connection was silent for 45 s');
    proxy.heal();
    await client.get(ConfigMap, metadata);
  });

  it('on which pings are answered stays open, however long its watches are silent', async () => {
    const { next } = await openWatch();
    await pass(300);
    server.requests[0]?.stream.end();
    await expect(next).resolves.toMatchObject({ done: true });
    expect(server.accepted).toBe(1);
  });
});

it('a connection that cannot be pinged is closed ten seconds after a request on it was not answered', async () => {
  const plain = createServer((request, response) => {
    if (request.url?.includes('watch=true')) response.writeHead(200).flushHeaders();
  });
  await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
  const address = plain.address();
  const port = typeof address === 'object' ? address?.port : '';
  const slow = new KubeClient(connectionFor({ server: `http://127.0.0.1:${port}`, ca: '' }));
  const next = slow.watch(ConfigMap, { timeoutSeconds: 1500 }).next();
  next.catch(() => {});
  const call = slow.raw('/slow', { deadlineMs: 5_000 });
  call.catch(() => {});
  await once(plain, 'request');
  await sleep(50);
  vi.advanceTimersByTime(5_000);
  await expect(call).rejects.toMatchObject({ reason: 'Timeout' });
  vi.advanceTimersByTime(10_000);
  await expect(next).rejects.toMatchObject({ reason: 'Unreachable' });
  await slow.close();
  plain.closeAllConnections();
  await new Promise((resolve) => plain.close(resolve));
});
