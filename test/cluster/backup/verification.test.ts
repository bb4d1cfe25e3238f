import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { backupAnnotation } from '../../../constructs/api/group.ts';
import { Pod } from '../../../constructs/api/resources.ts';
import { selectorString } from '../../../constructs/control-plane/labels.ts';
import { ClusterBackups } from '../../../reconciler/backup/cluster-backups.ts';
import { backupId, objectNames, parseBackupId } from '../../../reconciler/backup/names.ts';
import { ObjectStore } from '../../../reconciler/backup/object-store.ts';
import type { Connection } from '../../../reconciler/kube/config.ts';
import { instanceFrom } from '../../testbed/instance.ts';
import { storeSecret } from '../../support/backup-secrets.ts';
import { cutAfter } from '../../support/cut-connection.ts';
import { recordFault } from '../../support/fault-table.ts';
import { startOperator, type TestOperator } from '../../support/operator.ts';
import { loadOperatorImage } from '../../support/provider.ts';
import { type S3, startS3 } from '../../support/s3.ts';
import { until } from '../../support/until.ts';
import { single, Workbench } from '../../support/workbench.ts';

const namespace = 'trials';
const fieldManager = 'test';
/** The machine may be busy, and each trial is a pod of its own. */
const limitMs = 120_000;
let bench: Workbench;
let operator: TestOperator;
let s3: S3;
let store: ObjectStore;

beforeAll(async () => {
  await loadOperatorImage(instanceFrom(process.env, inject('testbed')), () => {});
  s3 = await startS3('tls');
  store = new ObjectStore(s3.settings);
  bench = await Workbench.open(inject('kubeconfig'), namespace);
  await bench.client.create(storeSecret({ namespace, name: 'backups' }, s3.settings), { fieldManager });
  operator = await start();
});
afterAll(async () => {
  await bench.deleteAll();
  await operator.stop();
  await bench.close();
  store.close();
  await s3.stop();
});

const start = (through?: (connection: Connection) => Connection) =>
  startOperator({ kubeconfig: inject('kubeconfig'), namespace, ...(through ? { through } : {}) });

const pods = async () => {
  const labelSelector = selectorString('c1', 'etcd-verify');
  return (await bench.client.list(Pod, { namespace, labelSelector })).items;
};
const untilNoPod = () => until('no pod of a trial to be left', async () => (await pods()).length === 0, limitMs);
const verifyEvery = (every: number) => bench.patch('c1', { spec: { etcd: { backup: { verify: { every } } } } });
const etcdStatus = async () => (await bench.get('c1')).status?.etcd;

/** Takes a backup as a user does, and gives its name. */
async function takeBackup(request: string): Promise<string> {
  await bench.patch('c1', { metadata: { annotations: { [backupAnnotation]: request } } });
  return until(
    `backup ${request}`,
    async () => {
      const known = (await etcdStatus())?.backup;
      return known?.lastRequest === request ? known.lastBackup : undefined;
    },
    limitMs,
  );
}

const untilVerified = (name: string) =>
  until(
    `backup ${name} to be verified`,
    async () => {
      const last = (await etcdStatus())?.lastVerifiedBackup;
      return last?.name === name ? last : undefined;
    },
    limitMs,
  );

/** Changes one bit of a snapshot, behind the store's back. */
async function flipBit(name: string): Promise<void> {
  const path = join(s3.directory, s3.settings.bucket, s3.settings.prefix, namespace, 'c1', name, objectNames.snapshot);
  const file = await open(path, 'r+');
  const byte = Buffer.alloc(1);
  await file.read(byte, 0, 1, 200_000);
  await file.write(Buffer.from([(byte[0] ?? 0) ^ 1]), 0, 1, 200_000);
  await file.close();
}

test('the first backup is restored for a trial, and how long that took is told and stored', async () => {
  await bench.create('c1', {
    ...single,
    etcd: { replicas: 1, backup: { schedule: '@daily', secret: { name: 'backups' }, verify: { every: 100 } } },
  });
  await bench.untilReady('c1', limitMs);
  const first = await until('the first backup', async () => (await etcdStatus())?.backup?.lastBackup, limitMs);
  const { restoreSeconds } = await untilVerified(first);
  expect(restoreSeconds).toBeGreaterThan(0);
  await untilNoPod();
  await bench.untilCondition('c1', 'EtcdBackupVerified', { status: 'True' });
  const backups = new ClusterBackups(store, { namespace, cluster: 'c1' });
  const listed = (await backups.list()).backups.map((name) => [backupId(name), name.isVerified]);
  expect(listed).toEqual([[first, true]]);
  const { revision, restoreSeconds: exact } = await backups.verification(parseBackupId(first)!);
  expect(revision).toBeGreaterThanOrEqual(parseBackupId(first)!.revision);
  expect(Math.ceil(exact)).toBe(restoreSeconds);
});

test('one flipped bit in the store is found by the next trial, and another backup is good again', async () => {
  const damaged = await takeBackup('to be damaged');
  await flipBit(damaged);
  const began = performance.now();
  await verifyEvery(1);
  const { message } = await bench.untilCondition('c1', 'EtcdBackupVerified', { reason: 'BackupUnusable' }, limitMs);
  const foundSeconds = (performance.now() - began) / 1000;
  expect(message).toContain(`backup ${damaged}: `);
  expect(message).toContain('damaged');
  await untilNoPod();
  const { conditions } = (await bench.get('c1')).status ?? {};
  for (const type of ['Ready', 'EtcdBackupReady', 'EtcdClusterHealthy']) {
    expect(conditions?.find((condition) => condition.type === type)).toMatchObject({ type, status: 'True' });
  }

  const good = await takeBackup('after the damaged one');
  await untilVerified(good);
  await bench.untilCondition('c1', 'EtcdBackupVerified', { status: 'True' }, limitMs);
  await recordFault({
    fault: 'one bit of a backup flipped in the bucket',
    observed: `the next trial restore refuses it after ${foundSeconds.toFixed(1)} s: EtcdBackupVerified is False and names it, with an event; everything else goes on`,
    recoverySeconds: undefined,
    dataLost: 'none; the backup before it is kept, and the next one was verified',
  });
});

test('an operator that is killed in a trial is followed by one that begins it anew and leaves no pod', async () => {
  let cutNow = false;
  await operator.stop();
  const dying = await start((connection) => {
    const dead = cutAfter(0, connection);
    return { ...connection, dispatcher: () => (cutNow ? dead.connection : connection).dispatcher() };
  });
  await bench.patch('c1', { metadata: { annotations: { [backupAnnotation]: 'before the kill' } } });
  const [left] = await until(
    'the pod of the trial',
    async () => ((await pods()).length > 0 ? pods() : undefined),
    limitMs,
  );
  cutNow = true;
  await dying.stop();
  const began = performance.now();
  expect((await pods()).map(({ metadata }) => metadata.uid)).toEqual([left?.metadata.uid]);

  operator = await start();
  const name = await until('the backup to be known', async () => {
    const known = (await etcdStatus())?.backup;
    return known?.lastRequest === 'before the kill' ? known.lastBackup : undefined;
  });
  await untilVerified(name);
  await untilNoPod();
  await recordFault({
    fault: 'operator killed during a trial restore',
    observed: 'its pod is removed by the next operator, which begins the trial anew',
    recoverySeconds: (performance.now() - began) / 1000,
    dataLost: 'none',
  });
});

test('a control plane that is deleted takes the pod of its trial along', async () => {
  await bench.patch('c1', { metadata: { annotations: { [backupAnnotation]: 'before the deletion' } } });
  await until('the pod of the trial', async () => (await pods()).length > 0, limitMs);
  await bench.delete('c1', limitMs);
  await untilNoPod();
  expect(await readdir(join(s3.directory, s3.settings.bucket, namespace))).toEqual(['c1']);
});
