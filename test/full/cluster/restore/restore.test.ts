import type { PodObject } from '../../../../imports/kubernetes.ts';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConfigMap, PersistentVolumeClaim, Pod, Secret } from '../../../../constructs/api/resources.ts';
import type { KubeClient } from '../../../../reconciler/kube/client.ts';
import { BackupWorkbench, unverifiedBackup } from '../../../support/backup-workbench.ts';
import { recordFault } from '../../../support/fault-table.ts';
import { storedSecrets, storedUnder } from '../../../support/stored-secrets.ts';
import { until } from '../../../support/until.ts';
import { single } from '../../../support/workbench.ts';
import { flipped, longMs, untilRefused, untilRestored } from '../../../cluster/restore/recoveries.ts';

const namespace = 'restores';
const backup = unverifiedBackup;
const spec = { ...single, etcd: { replicas: 1, backup } };
const fieldManager = 'test';
/** The name of a snapshot in teutonet's provider. */
const bareName = '2026-08-21T20:15:00+02:00.etcd';
let bench: BackupWorkbench;

beforeAll(async () => {
  bench = await BackupWorkbench.start({ namespace });
});
afterAll(() => bench.close());

async function restart(): Promise<void> {
  await bench.stopOperator();
  await bench.startOperator();
}

const stored = (name: string) => ({
  apiVersion: ConfigMap.apiVersion,
  kind: ConfigMap.kind,
  metadata: { namespace: 'default', name },
});

const plainSecret = {
  apiVersion: Secret.apiVersion,
  kind: Secret.kind,
  metadata: { namespace: 'default', name: 'plain' },
  data: { key: Buffer.from('value').toString('base64') },
};

const write = (hosted: KubeClient, name: string) =>
  until(`${name} to be written`, () =>
    hosted.apply(stored(name), { fieldManager, force: true }).catch(() => undefined),
  );

describe('a restored control plane', () => {
  let hosted: KubeClient;
  let id: string;
  beforeAll(async () => {
    // As in teutonet's provider, its Secrets are not encrypted.
    await bench.create('c1', { ...spec, encryptionAtRest: { provider: 'None' } });
    await bench.untilReady('c1', longMs);
    hosted = await bench.hosted('c1');
    await write(hosted, 'before');
    await hosted.apply(plainSecret, { fieldManager });
    id = await bench.takeBackup('c1', 'first', longMs);
    // The stream of a member, where and as another provider stores it.
    const folder = join(bench.s3.directory, 'backups', namespace, 'c1');
    await copyFile(join(folder, id, 'snapshot.db'), join(folder, bareName));
    await write(hosted, 'after');
    await bench.patch('c1', { spec: { etcd: { restore: { latest: true } } } });
    await untilRestored(bench, 'c1');
    await write(hosted, 'later');
    await bench.untilReady('c1');
  });
  afterAll(() => hosted.connection.close());

  test('is not restored again by another operator', async () => {
    const { metadata } = await bench.client.get(PersistentVolumeClaim, { namespace, name: 'etcd-data-c1-etcd-0' });
    expect(metadata.annotations?.['controlplane.cluster.x-k8s.io/etcd-restored']).toMatch(/^[0-9a-f]{16}$/);
    const { startTime } = (await bench.get('c1')).status?.etcd?.restore ?? {};
    await restart();
    await bench.untilSeen('c1');
    await bench.untilCondition('c1', 'EtcdRestoreReady', { status: 'True' });
    expect((await bench.get('c1')).status?.etcd?.restore?.startTime).toBe(startTime);
    expect(await hosted.find(ConfigMap, { namespace: 'default', name: 'later' })).toBeDefined();
  });

  describe('from an unusable backup', () => {
    const objectOf = (name: string) => join(bench.s3.directory, 'backups', namespace, 'c1', id, name);
    /** How a backup is damaged, and the message about it. */
    const damages: [string, string, (bytes: Buffer) => Buffer, RegExp][] = [
      [
        'half of it',
        'snapshot.db',
        (bytes) => bytes.subarray(0, bytes.length / 2),
        /is damaged, because its size or hash differs from its manifest/,
      ],
      [
        'a flipped bit, without a manifest',
        `../${bareName}`,
        flipped,
        /is damaged, because its content differs from the hash that etcd has appended/,
      ],
      ['a manifest that is cut', 'manifest.json', (bytes) => bytes.subarray(0, 40), /is not JSON: it is damaged/],
    ];
    test.each(damages)('stays as it was: %s', async (what, object, damage, expected) => {
      const good = await readFile(objectOf(object));
      await writeFile(objectOf(object), damage(good));
      try {
        const name = object.startsWith('../') ? bareName : id;
        await bench.patch('c1', { spec: { etcd: { restore: { latest: null, backup: name, request: what } } } });
        const message = await untilRefused(bench, 'c1', 'BackupUnusable');
        expect(message).toMatch(expected);
        await write(hosted, `beside-${damages.findIndex(([of]) => of === what)}`);
        expect(await hosted.find(ConfigMap, { namespace: 'default', name: 'later' })).toBeDefined();
        await recordFault({
          fault: `restore of a backup with ${what}`,
          observed: 'refused with reason BackupUnusable before anything is touched; the control plane goes on',
          recoverySeconds: undefined,
          dataLost: 'none',
        });
      } finally {
        await writeFile(objectOf(object), good);
      }
    });

    test('stays as it was: there is no such backup', async () => {
      const missing = '2026-01-01T00-00-00.000Z-1';
      await bench.patch('c1', { spec: { etcd: { restore: { latest: null, backup: missing } } } });
      const message = await untilRefused(bench, 'c1', 'BackupNotFound');
      expect(message).toContain(`the bucket contains no backup ${missing} of ${namespace}/c1: choose one of its`);
      expect(await hosted.find(ConfigMap, { namespace: 'default', name: 'later' })).toBeDefined();
    });
  });

  test('is restored once though the operator dies repeatedly', async () => {
    const began = performance.now();
    const before = (await bench.get('c1')).status?.etcd?.restore?.startTime;
    await bench.patch('c1', { spec: { etcd: { restore: { latest: null, backup: id, request: 'killed' } } } });
    const runs = new Set<string>();
    let restarts = 0;
    for (let last = await shows('c1'); ; restarts++) {
      const next = await until('anything to change', () => changed('c1', last), longMs);
      const { startTime, completionTime } = (await bench.get('c1')).status?.etcd?.restore ?? {};
      if (startTime !== undefined && startTime !== before) runs.add(startTime);
      if (runs.size > 0 && completionTime !== undefined) break;
      await restart();
      last = next;
    }
    expect(runs.size).toBe(1);
    await bench.untilCondition('c1', 'APIServerReachable', { status: 'True' }, longMs);
    expect(await hosted.find(ConfigMap, { namespace: 'default', name: 'before' })).toBeDefined();
    expect(await hosted.find(ConfigMap, { namespace: 'default', name: 'later' })).toBeUndefined();
    expect(restarts).toBeGreaterThan(5);
    await recordFault({
      fault: 'the operator dies again and again during a restore',
      observed: `one run, which continues where it was after each of ${restarts} deaths`,
      recoverySeconds: (performance.now() - began) / 1000,
      dataLost: 'none that the backup holds',
    });
  });

  test('gives its data to a new one of three members, from a snapshot without a manifest', async () => {
    const restore = { backup: bareName, from: { namespace, cluster: 'c1' } };
    await bench.create('c2', { ...single, etcd: { replicas: 3, backup, restore } });
    await untilRestored(bench, 'c2');
    const other = await bench.hosted('c2');
    try {
      await until(
        'the new API server to answer',
        async () => {
          return other.find(ConfigMap, { namespace: 'default', name: 'before' }).catch(() => undefined);
        },
        longMs,
      );
      expect(await other.find(ConfigMap, { namespace: 'default', name: 'after' })).toBeUndefined();
      expect(await other.get(Secret, plainSecret.metadata)).toMatchObject({ data: plainSecret.data });
      // One configuration after the other, each until every API server has loaded it, which takes a minute at most.
      const isEncrypted = async () => {
        const [under, ...others] = Object.keys(storedUnder(await storedSecrets(bench, 'c2')));
        return others.length === 0 && under?.startsWith('key-');
      };
      await until('all Secrets of the snapshot to be encrypted', isEncrypted, longMs);
      await bench.untilCondition('c2', 'EtcdClusterHealthy', { status: 'True' }, longMs);
      const { members = [] } = (await bench.get('c2')).status?.etcd ?? {};
      expect(members.map(({ role }) => role).sort()).toEqual(['Follower', 'Follower', 'Leader']);
      const { message } = await bench.untilCondition('c2', 'EtcdRestoreReady', { status: 'True' }, longMs);
      expect(message).toContain(`snapshot ${bareName} has no manifest`);
    } finally {
      await other.connection.close();
    }
  });
});

/** The visible progress of a restore. */
async function shows(cluster: string): Promise<string> {
  const labelSelector = `cluster.x-k8s.io/cluster-name=${cluster}`;
  const [pods, claims, { status }] = await Promise.all([
    bench.client.list<PodObject>(Pod, { namespace, labelSelector }),
    bench.client.list(PersistentVolumeClaim, { namespace, labelSelector }),
    bench.get(cluster),
  ]);
  const steps = pods.items.map(({ metadata, status: pod }) => [
    metadata.name,
    metadata.deletionTimestamp !== undefined,
    pod?.phase,
    pod?.initContainerStatuses?.map(({ state }) => Object.keys(state ?? {})),
  ]);
  return JSON.stringify([steps, claims.items.map(({ metadata }) => metadata.annotations), status?.etcd?.restore]);
}

async function changed(cluster: string, last: string): Promise<string | undefined> {
  const now = await shows(cluster);
  return now === last ? undefined : now;
}
