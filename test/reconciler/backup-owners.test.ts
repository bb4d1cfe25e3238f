import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClusterBackups } from '../../reconciler/backup/cluster-backups.ts';
import { backupId } from '../../reconciler/backup/names.ts';
import { ObjectStore } from '../../reconciler/backup/object-store.ts';
import type { HostedControlPlaneStatus } from '../../constructs/api/status.ts';
import { storeSecret } from '../support/backup-secrets.ts';
import { MemoryCluster } from '../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../support/loop/operator-process.ts';
import { settleBy } from '../support/loop/scenario.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { ObjectStoreServer } from '../support/object-store-server.ts';
import { clusterName, namespace, now } from '../support/scope.ts';
import { until } from '../support/until.ts';

const hourMs = 3_600_000;
const small = {
  replicas: 1,
  etcd: { replicas: 1 },
  coredns: { disabled: true },
  kubeProxy: { disabled: true },
  konnectivityClient: { disabled: true },
  networkPolicy: 'Disabled',
};
const backup = {
  schedule: '0 */2 * * *',
  secret: { name: 's3' },
  retention: { maxCount: 1 },
  verify: { disabled: true },
};

/** A management cluster with a control plane whose backups go to the bucket that others of its name use too. */
class Site {
  readonly cluster: MemoryCluster;
  operator: OperatorProcess;

  private constructor(cluster: MemoryCluster, operator: OperatorProcess) {
    this.cluster = cluster;
    this.operator = operator;
  }

  /** @param clusterId of its etcd. @param objects how many others exist, so that the uids of two sites differ */
  static async start(bucket: ObjectStoreServer, clusterId: string, objects: number): Promise<Site> {
    const cluster = new MemoryCluster(new ManualClock(now.getTime()));
    cluster.etcd.clusterId = clusterId;
    for (let count = 0; count < objects; count++) cluster.management.store.nextUid();
    await cluster.install();
    await cluster.order(small);
    await cluster.user.create(storeSecret({ namespace, name: 's3' }, bucket.settings), { fieldManager: 'user' });
    await settleBy(cluster);
    await cluster.change({ etcd: { replicas: 1, backup } });
    return new Site(cluster, await OperatorProcess.start(cluster));
  }

  get status(): HostedControlPlaneStatus {
    return (this.cluster.hostedControlPlane as { status?: HostedControlPlaneStatus }).status ?? {};
  }

  get condition() {
    return this.cluster.conditions.find(({ type }) => type === 'EtcdBackupReady');
  }

  /** Reconciles until the status satisfies a condition: requests to the bucket take real time. */
  async reconcileUntil(what: string, holds: () => boolean): Promise<void> {
    await until(what, async () => {
      await this.operator.reconcile();
      this.cluster.settle();
      return holds();
    });
  }

  /** Lets time pass until the next backup is due, and waits for it. @returns its name */
  async backUp(hours: number): Promise<string> {
    await this.cluster.clock.advance(hours * hourMs);
    const before = this.status.etcd?.backup?.lastAttemptTime;
    await this.reconcileUntil('a backup', () => this.status.etcd?.backup?.lastAttemptTime !== before);
    await this.operator.reconcile();
    return this.status.etcd?.backup?.lastBackup ?? 'none';
  }

  async restartOperator(): Promise<void> {
    await this.operator.stop();
    this.operator = await OperatorProcess.start(this.cluster);
    await this.operator.reconcile();
  }
}

describe('a rehearsal in another management cluster, with the same name and bucket', () => {
  let bucket: ObjectStoreServer;
  let store: ObjectStore;
  let production: Site;
  let rehearsal: Site;
  beforeAll(async () => {
    bucket = await ObjectStoreServer.start();
    store = new ObjectStore(bucket.settings);
    production = await Site.start(bucket, 'a1', 0);
    rehearsal = await Site.start(bucket, 'c3', 100);
  }, 60_000);
  afterAll(async () => {
    await Promise.all([production.operator.stop(), rehearsal.operator.stop()]);
    store.close();
    bucket.stop();
  });
  const stored = async () =>
    (await new ClusterBackups(store, { namespace, cluster: clusterName }).list()).backups.map(backupId);

  it('neither replaces nor deletes backups of the other, and both are told', async () => {
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
    await production.reconcileUntil('the restore to begin', () => production.status.etcd?.restore !== undefined);
    expect(production.status.etcd?.restore?.backup).toBe(own);
  });
});
