import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countKeys } from '../../support/count-keys.ts';
import { until } from '../../support/until.ts';
import { EtcdProcesses } from './etcd-processes.ts';
import { settle } from './settle.ts';

const value = Buffer.alloc(100_000, 'x');
const keys = [
  'a-key-before-all',
  '/registry',
  ...Array.from({ length: 300 }, (_, number) => `/registry/secrets/ns/${number}`),
  '/registry/services/specs/ns/one',
  '/registry/services/endpoints/ns/one',
  '/registry/services/endpoints/ns/two',
  '/registry/apps.example.org/things/ns/one',
  '/registry/apps.example.org/others/ns/one',
  '/registry/pods/ns/one',
  '/registry/podsecurity/ns/one',
  '/registry/health',
  'compact_rev_key',
  'zzz',
];

let cluster: EtcdProcesses;
beforeAll(async () => {
  cluster = await EtcdProcesses.start(1, 1);
  await settle(cluster, 1);
  const writer = cluster.keys();
  for (const key of keys) await writer.put(key).value(key.includes('secrets') ? value : 'x');
  writer.close();
});
afterAll(() => cluster.stop());

/** Snapshots that etcd has started to send and not completed, by its own counters. */
async function openSnapshots(): Promise<number> {
  const text = await cluster.metrics('etcd-0');
  const total = (name: string) =>
    [...text.matchAll(new RegExp(`^${name}\\{[^}]*grpc_method="Snapshot"[^}]*\\} (\\d+)$`, 'gm'))]
      .map(([, count]) => Number(count))
      .reduce((sum, count) => sum + count, 0);
  return total('grpc_server_started_total') - total('grpc_server_handled_total');
}

describe('the keys of a member', () => {
  it('are counted by resource at the requested revision, with the same result as a list of all keys', async () => {
    const { status } = await cluster.client('etcd-0').status();
    const writer = cluster.keys();
    await writer.put('/registry/secrets/ns/later').value('x');
    await writer.put('/registry/later/ns/one').value('x');
    writer.close();
    expect(await cluster.client('etcd-0').keyCounts(status.revision)).toEqual(countKeys(keys));
  });
});

describe('a snapshot', () => {
  it('is the database with the hash that etcdutl verifies', async () => {
    const chunks: Buffer[] = [];
    for await (const chunk of cluster.client('etcd-0').snapshot()) chunks.push(chunk);
    const all = Buffer.concat(chunks);
    const [database, hash] = [all.subarray(0, -32), all.subarray(-32)];
    expect(all.length).toBeGreaterThan(30_000_000);
    expect(all.length % 512).toBe(32);
    expect(createHash('sha256').update(database).digest().equals(hash)).toBe(true);
  });

  it('is not buffered by its client while the reader is slow', async () => {
    const before = process.memoryUsage().external + process.memoryUsage().arrayBuffers;
    const snapshot = cluster.client('etcd-0').snapshot();
    await snapshot.next();
    // Unrequested data would arrive within some turns of the event loop.
    for (let turn = 0; turn < 300_000; turn += 1) await setImmediate();
    const held = process.memoryUsage().external + process.memoryUsage().arrayBuffers - before;
    expect(held).toBeLessThan(8_000_000);
    await snapshot.return(undefined);
  });

  it('that is aborted or not read to its end leaves no open stream at etcd', async () => {
    const controller = new AbortController();
    const snapshot = cluster.client('etcd-0').snapshot(controller.signal);
    await snapshot.next();
    controller.abort(new Error('the operator ends'));
    const reading = async () => {
      for await (const _ of snapshot);
    };
    await expect(reading()).rejects.toThrow('the operator ends');
    const unread = cluster.client('etcd-0').snapshot();
    await unread.next();
    await unread.return(undefined);
    await until('etcd to close the streams', async () => (await openSnapshots()) === 0);
  });

  it('is counted as open by etcd while it is read', async () => {
    const snapshot = cluster.client('etcd-0').snapshot();
    await snapshot.next();
    expect(await openSnapshots()).toBe(1);
    await snapshot.return(undefined);
  });

  it('of a member that dies during the transfer ends with an error that names it', async () => {
    const snapshot = cluster.client('etcd-0').snapshot();
    await snapshot.next();
    await cluster.kill('etcd-0');
    const reading = async () => {
      for await (const _ of snapshot);
    };
    await expect(reading()).rejects.toThrow('read the snapshot of etcd member etcd-0: ');
  });
});
