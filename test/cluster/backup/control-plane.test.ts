import { expect, test } from 'vitest';
import { readRecoveryBundle } from '../../../reconciler/backup/recovery-bundle.ts';
import { backupId } from '../../../constructs/cluster/backup-names.ts';
import { until } from '../../support/until.ts';
import { kubernetesVersion } from '../../support/workbench.ts';
import { backup, BackedUp, limitMs } from './backed-up.ts';
import { tolerateProblem } from './store-problem.ts';

const backed = new BackedUp();

test('a control plane has a backup as soon as it has a bucket, with everything that a rebuild needs', async () => {
  await backed.bench.patch('c1', { spec: { etcd: { backup } } });
  const { status } = await until(
    'the first backup in the status',
    async () => {
      const object = await backed.bench.get('c1');
      return object.status?.etcd?.backup?.lastBackup ? object : undefined;
    },
    limitMs,
  );
  const [newest] = (await backed.backups.list()).backups;
  if (!newest) throw new Error('no backup is listed');
  expect(backupId(newest)).toBe(status?.etcd?.backup?.lastBackup);
  expect(status?.etcdLastBackupTime).toBe(new Date(newest.time).toISOString());
  expect(Date.parse(status?.etcdNextBackupTime ?? '')).toBeGreaterThan(Date.now());
  const manifest = await backed.backups.manifest(newest);
  expect(manifest).toMatchObject({ kubernetesVersion: kubernetesVersion, encryption: { keyId: '2026' } });
  let sizeBytes = 0;
  for await (const chunk of backed.backups.readSnapshot(newest, manifest)) sizeBytes += chunk.length;
  expect(sizeBytes).toBe(manifest.sizeBytes);
  const bundle = await readRecoveryBundle(backed.backups.readRecoveryBundle(newest));
  expect(bundle.secrets.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['c1-ca', 'c1-etcd', 'c1-proxy', 'c1-sa']),
  );
  expect(bundle.hostedControlPlane.spec).toMatchObject({ version: kubernetesVersion });
});

test('it is backed up on request, and keeps the configured number of backups', async () => {
  for (const text of ['one', 'two', 'three']) await backed.bench.takeBackup('c1', text, limitMs);
  const { backups: kept, unfinished } = await backed.backups.list();
  expect(kept).toHaveLength(3);
  expect(unfinished).toEqual([]);
  expect((await backed.backups.manifest(kept[0]!)).takenFor).toEqual(['request:three']);
  expect((await backed.backups.manifest(kept[0]!)).keys.byResource['/registry/namespaces']).toBeGreaterThan(3);
});

test('a Secret that is missing is told long before the next backup', async () => {
  const before = (await backed.backups.list()).backups;
  const use = (name: string) => backed.bench.patch('c1', { spec: { etcd: { backup: { secret: { name } } } } });
  await use('missing');
  const refused = { status: 'False', reason: 'BackupSecretInvalid' } as const;
  const { message } = await backed.bench.untilCondition('c1', 'EtcdBackupReady', refused, limitMs);
  expect(message).toContain(
    `Secret ${backed.bench.namespace}/missing with the address of the bucket does not exist: create it`,
  );
  await use('backups');
  await backed.bench.untilCondition('c1', 'EtcdBackupReady', { status: 'True' }, limitMs);
  expect((await backed.backups.list()).backups).toEqual(before);
});

test('a store that refuses its credentials is reported by one condition, nothing else changes, and later backups are taken', async () => {
  const problem = {
    fault: 'the S3 server does not know the credentials',
    reason: 'StoreUnavailable' as const,
    message: /does not accept the credentials/,
    cause: () => backed.bench.setStore({ secretAccessKey: 'wrong' }),
    heal: () => backed.bench.setStore(),
  };
  await expect(tolerateProblem(backed.bench, 'c1', problem, limitMs)).resolves.toBeUndefined();
});
