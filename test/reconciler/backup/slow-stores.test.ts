import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ObjectStore } from '../../../reconciler/backup/store/object-store.ts';
import { storeAt } from '../../support/object-store-server.ts';
import { until } from '../../support/until.ts';

/** How long a request may take here; two minutes in an operator. */
const requestMs = 400;
/** Longest time without progress here; a minute in an operator. */
const stallMs = 400;
/** Of every connection something moves in time, so that none of them is silent. */
const dripMs = 100;

let server: Server;
let store: ObjectStore;
let requests: number;
/** What answers after the head. */
let drip: (response: ServerResponse) => string;
const timers = new Set<NodeJS.Timeout>();
const sockets = new Set<Socket>();

beforeEach(async () => {
  requests = 0;
  server = createServer((request, response) => {
    requests += 1;
    if (request.method === 'PUT' && request.url?.includes('snapshot.db')) return takeSlowly(request, response);
    request.resume();
    response.on('error', () => {});
    const send = () => response.write(drip(response));
    send();
    const timer = setInterval(send, dripMs);
    timers.add(timer);
    response.on('close', () => clearInterval(timer));
  });
  server.on('connection', (socket) => sockets.add(socket));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  store = new ObjectStore(storeAt(`http://127.0.0.1:${port}`), {
    requestMs,
    stallMs,
    leastBytesPerSecond: 10 << 20,
  });
});
afterEach(() => {
  store.close();
  for (const timer of timers) clearInterval(timer);
  for (const socket of sockets) socket.destroy();
  server.close();
});

/** Takes 64 KiB now and then, and says that it goes on, so that its connection is not silent. It never answers. */
function takeSlowly(request: IncomingMessage, response: ServerResponse): void {
  const timer = setInterval(() => {
    request.read(64 << 10);
    response.writeProcessing();
  }, dripMs);
  timers.add(timer);
  request.on('close', () => clearInterval(timer));
}

const stalled = { reason: 'Stalled' };

describe('a store that answers a byte now and then', () => {
  beforeEach(() => (drip = () => ' '));

  it.each<[string, (of: ObjectStore, signal?: AbortSignal) => Promise<unknown>]>([
    ['a list', (of, signal) => of.list('team/c1/', signal)],
    ['the write of a small object', (of, signal) => of.putText('team/c1/x', 'text', signal)],
    ['a write on a condition', (of, signal) => of.createText('team/c1/x', 'text', signal)],
    ['a deletion', (of, signal) => of.delete('team/c1/x', signal)],
    ['a list of unfinished uploads', (of, signal) => of.abortUploads('team/c1/', 0, signal)],
    ['a check', (of, signal) => of.reach('team/c1/', signal)],
    ['a small object', (of, signal) => of.getText('team/c1/x', signal)],
  ])('is left at the deadline of %s, and is not asked again', async (_, ask) => {
    await expect(ask(store)).rejects.toMatchObject(stalled);
    // Under load the deadline may come before the request has arrived.
    expect(requests).toBeLessThanOrEqual(1);
  });

  it('is left at once when the task ends', async () => {
    const patient = new ObjectStore(store.settings, { requestMs: 60_000, stallMs: 60_000 });
    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error('the control plane was deleted')), dripMs);
    const asked = [
      patient.list('team/c1/', controller.signal),
      patient.putText('team/c1/x', 'text', controller.signal),
      patient.createText('team/c1/x', 'text', controller.signal),
      patient.delete('team/c1/x', controller.signal),
      patient.abortUploads('team/c1/', 0, controller.signal),
      patient.getText('team/c1/x', controller.signal),
    ];
    for (const end of await Promise.allSettled(asked))
      expect(end).toMatchObject({ status: 'rejected', reason: new Error('the control plane was deleted') });
    patient.close();
  });
});

it('a store whose list has one more page each time is left after the time of two requests', async () => {
  const page =
    '<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>n</NextContinuationToken></ListBucketResult>';
  const answered = new WeakSet<ServerResponse>();
  drip = (response) => {
    if (answered.has(response)) setImmediate(() => response.end(page));
    answered.add(response);
    return ' ';
  };
  await expect(store.list('team/c1/')).rejects.toMatchObject(stalled);
  expect(requests).toBeGreaterThan(1);
  expect(requests).toBeLessThan(20);
});

it('a store that sends less of a snapshot than the least speed is left', async () => {
  drip = () => 'x'.repeat(64 << 10);
  const read = async () => {
    for await (const chunk of store.get('team/c1/snapshot.db')) expect(chunk.length).toBeGreaterThan(0);
  };
  await expect(read()).rejects.toMatchObject(stalled);
});

it('a store that sends a snapshot faster is read', async () => {
  drip = () => 'x'.repeat(2 << 20);
  let bytes = 0;
  for await (const chunk of store.get('team/c1/snapshot.db')) {
    bytes += chunk.length;
    if (bytes > 8 << 20) break;
  }
  expect(bytes).toBeGreaterThan(8 << 20);
});

it('a store that takes less of a snapshot than the least speed is left', async () => {
  async function* snapshot(): AsyncGenerator<Uint8Array> {
    for (let count = 0; count < 4; count++) yield Buffer.alloc(1 << 20);
  }
  const began = performance.now();
  await expect(store.put('team/c1/snapshot.db', snapshot())).rejects.toMatchObject(stalled);
  expect(performance.now() - began).toBeLessThan(5_000);
  expect(requests).toBe(1);
});

it('a store that takes less of a snapshot in one request than the least speed is left, and its source is closed', async () => {
  let isClosed = false;
  async function* snapshot(): AsyncGenerator<Uint8Array> {
    try {
      for (let count = 0; count < 32; count++) yield Buffer.alloc(1 << 20);
    } finally {
      isClosed = true;
    }
  }
  const limits = { requestMs, stallMs, leastBytesPerSecond: 10 << 20 };
  const trusted = new ObjectStore(store.settings, { ...limits, takes: 'whole' });
  const began = performance.now();
  await expect(trusted.put('team/c1/snapshot.db', snapshot(), undefined, 32 << 20)).rejects.toMatchObject(stalled);
  expect(performance.now() - began).toBeLessThan(10_000);
  expect(requests).toBe(1);
  await until('the source to be closed', () => isClosed);
  trusted.close();
});
