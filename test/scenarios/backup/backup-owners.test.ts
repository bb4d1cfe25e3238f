import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClusterBackups } from '../../../reconciler/backup/cluster-backups.ts';
import { backupId } from '../../../constructs/cluster/backup-names.ts';
import { ObjectStore } from '../../../reconciler/backup/store/object-store.ts';
import { foundedClusterIds } from '../../../reconciler/etcd/derived-ids.ts';
import { BackedUpCluster } from '../../support/loop/backed-up-cluster.ts';
import { ObjectStoreServer } from '../../support/object-store-server.ts';
import { clusterName, namespace } from '../../support/scope.ts';

describe('a rehearsal in another management cluster, with the same name and bucket', () => {
  let bucket: ObjectStoreServer;
  let store: ObjectStore;
  let production: BackedUpCluster;
  let rehearsal: BackedUpCluster;
  beforeAll(async () => {
    bucket = await ObjectStoreServer.start();
    store = new ObjectStore(bucket.settings);
    production = await BackedUpCluster.start(bucket, 'a1', 0);
    rehearsal = await BackedUpCluster.start(bucket, 'c3', 100);
  }, 60_000);
  afterAll(async () => {
    await Promise.all([production.operator.stop(), rehearsal.operator.stop()]);
    store.close();
    bucket.stop();
  });
  const stored = async () =>
    (await new ClusterBackups(store, { namespace, cluster: clusterName }).list()).backups.map(backupId);

  it('neither replaces nor deletes backups of the other, and both report it', async () => {
    const first = await production.backUp(0);
    const rehearsed = await rehearsal.backUp(0.5);
    expect(rehearsed).not.toBe(first);
    const second = await production.backUp(2.25);
    expect(await stored()).toEqual([second, rehearsed]);
    const { uid = '' } = rehearsal.cluster.hostedControlPlane.metadata;
    expect(production.condition).toMatchObject({
      status: 'False',
      reason: 'BackupFolderShared',
      message: expect.stringContaining(`${rehearsed} is of the HostedControlPlane with uid ${uid}`) as unknown,
    });
    const third = await rehearsal.backUp(2.5);
    expect(rehearsal.condition).toMatchObject({ reason: 'BackupFolderShared' });
    expect(await stored()).toEqual([third, second]);
  });

  it('is still told after a restart of the operator, until its backups are gone', async () => {
    await production.restartOperator();
    expect(production.condition).toMatchObject({ status: 'False', reason: 'BackupFolderShared' });
    const [foreign = ''] = await stored();
    for (const key of bucket.objects.keys()) if (key.includes(foreign)) bucket.objects.delete(key);
    await production.backUp(2);
    expect(production.condition).toMatchObject({ status: 'True' });
  });

  it('is not restored as the newest backup of the other', async () => {
    const own = production.status.etcd?.backup?.lastBackup;
    const rehearsed = await rehearsal.backUp(6);
    expect((await stored())[0]).toBe(rehearsed);
    await production.cluster.change({ etcd: { restore: { latest: true } } });
    await production.operator.reconcileUntil(
      'the restore to begin',
      () => production.status.etcd?.restore !== undefined,
    );
    expect(production.status.etcd?.restore?.backup).toBe(own);
  });
});

describe('a Cluster that was deleted and created again under its name', () => {
  it("never deletes its predecessor's backups, whatever its retention", async () => {
    const bucket = await ObjectStoreServer.start();
    const store = new ObjectStore(bucket.settings);
    // Every etcd that starts empty under this name has this ID.
    const [founded = ''] = foundedClusterIds({ namespace, name: clusterName });
    const site = await BackedUpCluster.start(bucket, founded, 0);
    const first = await site.backUp(0);
    await site.createAgain();
    await site.operator.untilSettled();
    await site.operator.reconcileUntil('the first backup', () => site.status.etcd?.backup?.lastBackup !== undefined);
    const newest = site.status.etcd?.backup?.lastBackup;
    const { backups } = await new ClusterBackups(store, { namespace, cluster: clusterName }).list();
    expect(backups.map(backupId)).toEqual([newest, first]);
    expect(site.condition).toMatchObject({ status: 'True' });
    await site.operator.stop();
    store.close();
    bucket.stop();
  });
});
