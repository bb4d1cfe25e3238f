import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { backupId, objectNames, parseBackupId } from '../../../reconciler/backup/names.ts';
import { BackupWorkbench, verifiedBackup } from '../../support/backup-workbench.ts';
import { cutWhile } from '../../support/cut-connection.ts';
import { recordFault } from '../../support/fault-table.ts';
import { until } from '../../support/until.ts';
import { single } from '../../support/workbench.ts';

const namespace = 'verifications';
/** The machine may be busy, and each verification runs in a pod. */
const limitMs = 180_000;
let bench: BackupWorkbench;

beforeAll(async () => {
  bench = await BackupWorkbench.start({ namespace });
});
afterAll(() => bench.close());

const pods = () => bench.pods('c1', 'etcd-verify');
const untilNoPod = () => until('no pod of a verification to be left', async () => (await pods()).length === 0, limitMs);
const verifyEvery = (every: number) => bench.patch('c1', { spec: { etcd: { backup: { verify: { every } } } } });
const etcdStatus = async () => (await bench.get('c1')).status?.etcd;

const untilVerified = (name: string) =>
  until(
    `backup ${name} to be verified`,
    async () => {
      const last = (await etcdStatus())?.lastVerifiedBackup;
      return last?.name === name ? last : undefined;
    },
    limitMs,
  );

/** Changes one bit of a snapshot, without the store's API. */
async function flipBit(name: string): Promise<void> {
  const { s3 } = bench;
  const path = join(s3.directory, s3.settings.bucket, s3.settings.prefix, namespace, 'c1', name, objectNames.snapshot);
  const file = await open(path, 'r+');
  const byte = Buffer.alloc(1);
  await file.read(byte, 0, 1, 200_000);
  await file.write(Buffer.from([(byte[0] ?? 0) ^ 1]), 0, 1, 200_000);
  await file.close();
}

test('the first backup is verified by a restore, and the duration is reported and stored', async () => {
  await bench.create('c1', {
    ...single,
    etcd: { replicas: 1, backup: { ...verifiedBackup, verify: { every: 100 } } },
  });
  await bench.untilReady('c1', limitMs);
  const first = await until('the first backup', async () => (await etcdStatus())?.backup?.lastBackup, limitMs);
  const { restoreSeconds } = await untilVerified(first);
  expect(restoreSeconds).toBeGreaterThan(0);
  await untilNoPod();
  await bench.untilCondition('c1', 'EtcdBackupVerified', { status: 'True' });
  const backups = bench.backups('c1');
  const listed = (await backups.list()).backups.map((name) => [backupId(name), name.isVerified]);
  expect(listed).toEqual([[first, true]]);
  const { revision, restoreSeconds: exact } = await backups.verification(parseBackupId(first)!);
  expect(revision).toBeGreaterThanOrEqual(parseBackupId(first)!.revision);
  expect(Math.ceil(exact)).toBe(restoreSeconds);
});

test('the next verification detects one flipped bit in the store, and verifies another backup', async () => {
  const damaged = await bench.takeBackup('c1', 'to be damaged', limitMs);
  await flipBit(damaged);
  const began = performance.now();
  await verifyEvery(1);
  const { message } = await bench.untilCondition('c1', 'EtcdBackupVerified', { reason: 'BackupUnusable' }, limitMs);
  const foundSeconds = (performance.now() - began) / 1000;
  expect(message).toContain(`backup ${damaged}: `);
  expect(message).toContain('damaged');
  await untilNoPod();
  for (const type of ['Ready', 'EtcdBackupReady', 'EtcdClusterHealthy'] as const) {
    await bench.untilCondition('c1', type, { status: 'True' }, limitMs);
  }
  await bench.untilCondition('c1', 'EtcdBackupVerified', { status: 'False', reason: 'BackupUnusable' }, limitMs);

  const good = await bench.takeBackup('c1', 'after the damaged one', limitMs);
  await untilVerified(good);
  await bench.untilCondition('c1', 'EtcdBackupVerified', { status: 'True' }, limitMs);
  await recordFault({
    fault: 'one bit of a backup flipped in the bucket',
    observed: `the next verification refuses it after ${foundSeconds.toFixed(1)} s: EtcdBackupVerified is False and names it, with an event; everything else goes on`,
    recoverySeconds: undefined,
    dataLost: 'none; the backup before it is kept, and the next one was verified',
  });
});

test('an operator that is killed during a verification is followed by one that repeats it and leaves no pod', async () => {
  let cutNow = false;
  await bench.stopOperator();
  await bench.startOperator(cutWhile(() => cutNow));
  await bench.requestBackup('c1', 'before the kill');
  const left = await until('the pod of the verification', async () => (await pods())[0], limitMs);
  cutNow = true;
  await bench.stopOperator();
  const began = performance.now();
  expect((await pods()).map(({ metadata }) => metadata.uid)).toEqual([left.metadata.uid]);

  await bench.startOperator();
  await untilVerified(await bench.untilBackup('c1', 'before the kill', limitMs));
  await untilNoPod();
  await recordFault({
    fault: 'operator killed during a verification',
    observed: 'the next operator removes its pod and starts the verification again',
    recoverySeconds: (performance.now() - began) / 1000,
    dataLost: 'none',
  });
});

test('the deletion of a control plane deletes the pod of its verification', async () => {
  await bench.requestBackup('c1', 'before the deletion');
  await until('the pod of the verification', async () => (await pods()).length > 0, limitMs);
  await bench.delete('c1', limitMs);
  await untilNoPod();
  const { s3 } = bench;
  expect(await readdir(join(s3.directory, s3.settings.bucket, namespace))).toEqual(['c1']);
});
