import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BackupWorkbench, unverifiedBackup } from '../support/backup-workbench.ts';
import { FlakyProxy } from '../support/flaky-proxy.ts';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/until.ts';
import { single } from '../support/workbench.ts';
import { tolerateProblem, type Problem } from '../cluster/backup/store-problem.ts';

const limitMs = 240_000;
const clusters = ['silent', 'back', 'last'] as const;
let bench: BackupWorkbench;
let proxy: FlakyProxy;

beforeAll(async () => {
  bench = await BackupWorkbench.start({ namespace: 'patience', withoutImage: true });
  proxy = await FlakyProxy.start(Number(new URL(bench.s3.settings.endpoint ?? '').port));
  await Promise.all(clusters.map(open));
});
afterAll(async () => {
  await bench.close();
  await proxy.stop();
});

/** Creates a control plane with its own Secret for the bucket, and waits for its first backup. */
async function open(cluster: string): Promise<void> {
  await bench.setStore({}, cluster);
  const backup = { ...unverifiedBackup, secret: { name: cluster }, beforeDeletion: cluster === 'last' };
  await bench.create(cluster, { ...single, etcd: { replicas: 1, backup } });
  await bench.untilReady(cluster, limitMs);
  await bench.untilBackup(cluster, undefined, limitMs);
}

// In parallel, because each test waits a minute for a timeout of a silent connection, or for a retry.
describe.concurrent('a control plane', () => {
  test('whose S3 server accepts connections and is silent reports that in one condition, and later backups are taken', async () => {
    await bench.setStore({ host: `https://127.0.0.1:${proxy.port}` }, 'silent');
    const silence: Problem = {
      fault: 'the S3 server takes connections and is silent',
      reason: 'StoreUnavailable',
      message: /the store cannot be reached|did not respond in time|no progress/,
      cause: async () => proxy.goSilent(),
      heal: async () => proxy.heal(),
    };
    await expect(tolerateProblem(bench, 'silent', silence, limitMs)).resolves.toBeUndefined();
  });

  test('whose S3 server recovers has a backup without another request', async () => {
    await bench.setStore({ host: `https://127.0.0.1:${await freePort()}` }, 'back');
    await bench.requestBackup('back', 'patience');
    await bench.untilCondition('back', 'EtcdBackupReady', { status: 'False', reason: 'StoreUnavailable' }, limitMs);
    await bench.setStore({}, 'back');
    await bench.untilBackup('back', 'patience', limitMs);
    const backups = bench.backups('back');
    const [newest] = (await backups.list()).backups;
    expect((await backups.manifest(newest!)).takenFor).toEqual(['request:patience']);
  });

  test('that is deleted waits for its final backup, reports the error, and has one when it is gone', async () => {
    await bench.setStore({ secretAccessKey: 'wrong' }, 'last');
    await bench.beginDeletion('last');
    const waiting = { status: 'True', reason: 'WaitingForFinalBackup' } as const;
    const { message } = await bench.untilCondition('last', 'Deleting', waiting, limitMs);
    expect(message).toMatch(/the final backup/);
    const failure = await until(
      'the error in the condition',
      async () => {
        const deleting = await bench.condition('last', 'Deleting');
        return deleting?.message.includes('beforeDeletion: false') && deleting.message;
      },
      limitMs,
    );
    expect(failure).toContain('does not accept the credentials');
    await bench.setStore({}, 'last');
    await until('the Cluster to be gone', async () => !(await bench.exists('last')), limitMs);
    const backups = bench.backups('last');
    const [newest] = (await backups.list()).backups;
    expect((await backups.manifest(newest!)).takenFor).toEqual([expect.stringMatching(/^deletion:/)]);
  });
});
