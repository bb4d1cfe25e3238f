import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { backupId, objectNames, parseBackupId } from '../../../constructs/cluster/backup-names.ts';
import { BackupWorkbench, verifiedBackup } from '../../support/backup-workbench.ts';
import { recordFault } from '../../support/fault-table.ts';
import { Loan } from '../../support/lent/loan.ts';
import { until } from '../../support/until.ts';

/** The machine may be busy, and each verification runs in a pod. */
const limitMs = 180_000;
const loan = new Loan('plain');
let bench: BackupWorkbench;
/** The number of requests that its operator had sent to the hosted cluster when it was at rest. */
let sentBefore: number;

beforeAll(async () => {
  bench = await BackupWorkbench.borrow(loan);
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
  const path = join(
    s3.directory,
    s3.settings.bucket,
    s3.settings.prefix,
    bench.namespace,
    'c1',
    name,
    objectNames.snapshot,
  );
  const file = await open(path, 'r+');
  const byte = Buffer.alloc(1);
  await file.read(byte, 0, 1, 200_000);
  await file.write(Buffer.from([(byte[0] ?? 0) ^ 1]), 0, 1, 200_000);
  await file.close();
}

test('the first backup is verified by a restore, and the duration is reported and stored', async () => {
  await bench.patch('c1', { spec: { etcd: { backup: { ...verifiedBackup, verify: { every: 100 } } } } });
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
  sentBefore = bench.operator.hostedRequests.length;
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

test('the operator writes nothing in the hosted cluster while nothing happens there', () => {
  // All of this file's time, in which backups were taken and restored: nothing of it is the hosted cluster's business. A watch ends
  // after minutes, and begins again, and a reconcile lists what is not watched.
  const sent = bench.operator.hostedRequests.slice(sentBefore);
  expect(sent.filter(({ verb }) => verb !== 'watch' && verb !== 'list')).toEqual([]);
});
