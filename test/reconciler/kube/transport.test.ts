import { createServer, type Server } from 'node:http';
import { Dispatcher } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigMap } from '../../../constructs/api/resources.ts';
import { KubeClient } from '../../../reconciler/kube/client.ts';
import { connectionFor } from '../../../reconciler/kube/config.ts';
import { kubeErrorOf } from '../../../reconciler/kube/errors.ts';
import { ReturnedServer } from '../../../reconciler/kube/returned-server.ts';

/** The server's answer to one request, and the connection on which the request arrived. */
interface Answer {
  /** 0: none, and the connection ends. */
  readonly code: number;
  readonly retryAfter?: string;
}

const name = { namespace: 'default', name: 'map' };
const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: name };
const shuttingDown: Answer = { code: 503, retryAfter: '1' };

let server: Server;
let client: KubeClient;
let answers: Answer[];
let connections: (number | undefined)[];

beforeEach(async () => {
  connections = [];
  server = createServer((request, response) => {
    connections.push(request.socket.remotePort);
    request.resume();
    const { code, retryAfter } = answers.shift() ?? { code: 200 };
    if (code === 0) return void request.socket.destroy();
    response.writeHead(code, retryAfter ? { 'retry-after': retryAfter } : {});
    response.end(JSON.stringify(code === 200 ? object : { code, message: 'come again' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  client = new KubeClient(connectionFor({ server: `http://127.0.0.1:${port}`, ca: '' }));
});
afterEach(async () => {
  await client.connection.close();
  await new Promise((resolve) => server.close(resolve));
});

describe('a refused request', () => {
  const away: Answer = { code: 0 };
  const refused: Answer = { code: 403 };
  const get = () =>
    client.get(ConfigMap, name).then(
      () => 200,
      (error: unknown) => kubeErrorOf(error)?.code,
    );

  it('is refused', async () => {
    answers = [refused];
    await expect(get()).resolves.toBe(403);
  });

  it('counts as not answered after the server was away, until a request succeeds', async () => {
    answers = [away, away, refused, refused, { code: 200 }, refused];
    const codes = [];
    for (let count = 0; count < 5; count++) codes.push(await get());
    expect(codes).toEqual([0, 503, 503, 200, 403]);
  });

  it('says why it does not count', async () => {
    answers = [away, away, refused];
    await get();
    await expect(client.get(ConfigMap, name)).rejects.toThrow(
      /^get ConfigMap default\/map: .*come again.*: the API server has just come back, and may not have read its roles yet$/,
    );
  });
});

describe('a server that was away', () => {
  it('decides again when it has answered for a minute', () => {
    const server = new ReturnedServer();
    server.noteAway();
    expect([0, 59_999, 60_000, 60_001].map((now) => server.decides(now))).toEqual([false, false, true, true]);
    server.noteAway();
    expect(server.decides(70_000)).toBe(false);
  });
});

describe('a rejected request', () => {
  it('is repeated after the Retry-After time, on a new connection if the server shuts down', async () => {
    answers = [shuttingDown];
    const begun = performance.now();
    await expect(client.get(ConfigMap, name)).resolves.toEqual(object);
    expect(performance.now() - begun).toBeGreaterThan(990);
    expect(new Set(connections).size).toBe(2);
  });

  it('is repeated for any verb, because the server has done nothing', async () => {
    answers = [{ code: 429, retryAfter: '1' }];
    await expect(client.create(object, { fieldManager: 'test' })).resolves.toEqual(object);
    expect(connections).toHaveLength(2);
  });

  it('fails if it is rejected a second time', async () => {
    answers = [shuttingDown, shuttingDown];
    await expect(client.get(ConfigMap, name)).rejects.toMatchObject({ code: 503, message: /come again/ });
    expect(connections).toHaveLength(2);
  });

  it.each<[string, Answer]>([
    ['with a longer Retry-After than the queue would wait', { code: 503, retryAfter: '3' }],
    ['without Retry-After', { code: 503 }],
    ['by a server that may have processed it', { code: 500, retryAfter: '1' }],
  ])('%s fails at once', async (_, answer) => {
    answers = [answer];
    await expect(client.get(ConfigMap, name)).rejects.toMatchObject({ code: answer.code });
    expect(connections).toHaveLength(1);
  });

  it('ends with its caller while it waits', async () => {
    answers = [shuttingDown];
    const caller = new AbortController();
    server.once('request', () => setTimeout(() => caller.abort(new Error('enough')), 100));
    await expect(client.get(ConfigMap, name, { signal: caller.signal })).rejects.toThrow('enough');
    expect(connections).toHaveLength(1);
  });
});

it('a request ends at its deadline even if its connection never begins it', async () => {
  const pending = new Dispatcher();
  pending.dispatch = () => true;
  const silent = new KubeClient({ ...client.connection, dispatcher: () => pending, renew: () => {} });
  await expect(silent.get(ConfigMap, name, { deadlineMs: 50 })).rejects.toThrow('did not answer within 50 ms');
});
