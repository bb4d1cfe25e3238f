import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BackupWorkbench, unverifiedBackup } from '../../support/backup-workbench.ts';
import { FlakyProxy } from '../../support/flaky-proxy.ts';
import { freePort } from '../../support/free-port.ts';
import { until } from '../../support/until.ts';
import { single } from '../../support/workbench.ts';
import { tolerateProblem, type Problem } from './store-problem.ts';

const limitMs = 240_000;
const clusters = ['silent', 'back', 'last'] as const;
let bench: BackupWorkbench;
let proxy: FlakyProxy;

beforeAll(async () => {
  bench = await BackupWorkbench.start({ namespace: 'patience', withoutImage: true });
  proxy = await FlakyProxy.start(Number(new URL(bench.s3.settings.endpoint ?? '').port));
  await Promise.all(clusters.map(open));
}, 2 * limitMs);
afterAll(async () => {
  await bench.close();
  await proxy.stop();
});

/** Makes a control plane with a Secret of its own for the bucket, and waits for its first backup. */
async function open(cluster: string): Promise<void> {
  await bench.setStore({}, cluster);
  const backup = { ...unverifiedBackup, secret: { name: cluster }, beforeDeletion: cluster === 'last' };
  await bench.create(cluster, { ...single, etcd: { replicas: 1, backup } });
  await bench.untilReady(cluster, limitMs);
  await bench.untilBackup(cluster, undefined, limitMs);
}

// Side by side, because a minute each has to pass before a silent connection is given up, or a failure is tried again.
describe.concurrent('a control plane', { timeout: 2 * limitMs }, () => {
  test('whose S3 server takes connections and is silent says so in one condition, and later backups are taken', async () => {
    await bench.setStore({ host: `https://127.0.0.1:${proxy.port}` }, 'silent');
    const silence: Problem = {
      fault: 'the S3 server takes connections and is silent',
      reason: 'StoreUnavailable',
      message: /the store cannot be reached|silent for too long/,
      cause: async () => proxy.goSilent(),
      heal: async () => proxy.heal(),
    };
    await expect(tolerateProblem(bench, 'silent', silence, limitMs)).resolves.toBeUndefined();
  });

  test('whose S3 server is back has a backup although nobody asks again', async () => {
    await bench.setStore({ host: `https://127.0.0.1:${await freePort()}` }, 'back');
    await bench.requestBackup('back', 'patience');
    await bench.untilCondition('back', 'EtcdBackupReady', { status: 'False', reason: 'StoreUnavailable' }, limitMs);
    await bench.setStore({}, 'back');
    await bench.untilBackup('back', 'patience', limitMs);
    const backups = bench.backups('back');
    const [newest] = (await backups.list()).backups;
    expect((await backups.manifest(newest!)).takenFor).toEqual(['request:patience']);
  });

  test('that is deleted waits for its last backup, says what fails, and has one when it is gone', async () => {
    await bench.setStore({ secretAccessKey: 'wrong' }, 'last');
    await bench.beginDeletion('last');
    const waiting = { status: 'True', reason: 'WaitingForFinalBackup' } as const;
    const { message } = await bench.untilCondition('last', 'Deleting', waiting, limitMs);
    expect(message).toMatch(/the final backup/);
    const said = await until(
      'what fails to be said',
      async () => {
        const deleting = await bench.condition('last', 'Deleting');
        return deleting?.message.includes('beforeDeletion: false') && deleting.message;
      },
      limitMs,
    );
    expect(said).toContain('does not accept the credentials');
    await bench.setStore({}, 'last');
    await until('the Cluster to be gone', async () => !(await bench.exists('last')), limitMs);
    const backups = bench.backups('last');
    const [newest] = (await backups.list()).backups;
    expect((await backups.manifest(newest!)).takenFor).toEqual([expect.stringMatching(/^deletion:/)]);
  });
});
