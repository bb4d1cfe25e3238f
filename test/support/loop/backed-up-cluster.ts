import { Cluster, HostedControlPlane } from '../../../constructs/api/resources.ts';
import type { HostedControlPlaneStatus } from '../../../constructs/api/status.ts';
import { storeSecret } from '../backup-secrets.ts';
import { ManualClock } from '../manual-clock.ts';
import type { ObjectStoreServer } from '../object-store-server.ts';
import { clusterName, namespace, now } from '../scope.ts';
import { MemoryCluster, ourName } from './memory-cluster.ts';
import { OperatorProcess } from './operator-process.ts';
import { settleBy, smallestSpec } from './scenario.ts';

const hourMs = 3_600_000;
const backup = {
  schedule: '0 */2 * * *',
  secret: { name: 's3' },
  retention: { maxCount: 1 },
  verify: { disabled: true },
};

/** A management cluster with a control plane whose backups go to a bucket that others of its name may use too. */
export class BackedUpCluster {
  readonly cluster: MemoryCluster;
  operator: OperatorProcess;

  private constructor(cluster: MemoryCluster, operator: OperatorProcess) {
    this.cluster = cluster;
    this.operator = operator;
  }

  /**
   * @param clusterId of its etcd. @param objects how many others exist, so that the uids of two sites differ. @param changes of the spec
   * @param watchNamespace the only namespace of the operator; undefined for all
   */
  static async start(
    bucket: ObjectStoreServer,
    clusterId: string,
    objects: number,
    changes: object = {},
    watchNamespace?: string,
  ): Promise<BackedUpCluster> {
    const cluster = new MemoryCluster(new ManualClock(now.getTime()));
    cluster.watchNamespace = watchNamespace;
    cluster.etcd.clusterId = clusterId;
    for (let count = 0; count < objects; count++) cluster.management.store.nextUid();
    await cluster.install();
    await cluster.order({ ...smallestSpec, ...changes });
    await cluster.user.create(storeSecret({ namespace, name: 's3' }, bucket.settings), { fieldManager: 'user' });
    await settleBy(cluster);
    await cluster.change({ etcd: { replicas: 1, backup } });
    return new BackedUpCluster(cluster, await OperatorProcess.start(cluster));
  }

  get status(): HostedControlPlaneStatus {
    return (this.cluster.hostedControlPlane as { status?: HostedControlPlaneStatus }).status ?? {};
  }

  get condition() {
    return this.cluster.conditions.find(({ type }) => type === 'EtcdBackupReady');
  }

  /** Lets time pass until the next backup is due, and waits for it. @returns its name */
  async backUp(hours: number): Promise<string> {
    await this.cluster.clock.advance(hours * hourMs);
    const before = this.status.etcd?.backup?.lastAttemptTime;
    await this.operator.reconcileUntil('a backup', () => this.status.etcd?.backup?.lastAttemptTime !== before);
    await this.operator.reconcile();
    return this.status.etcd?.backup?.lastBackup ?? 'none';
  }

  async restartOperator(): Promise<void> {
    await this.operator.stop();
    this.operator = await OperatorProcess.start(this.cluster);
    await this.operator.reconcile();
  }

  /** Deletes the HostedControlPlane, and applies its manifest again a minute later. @param etcd fields that differ */
  async createAgain(etcd: object = {}, changes: object = {}): Promise<void> {
    const { user, clock } = this.cluster;
    await user.delete(HostedControlPlane, ourName);
    await this.operator.untilSettled();
    await clock.advance(60_000);
    const owner = await user.get(Cluster, { namespace, name: clusterName });
    await this.cluster.orderControlPlane(owner, {
      ...smallestSpec,
      ...changes,
      etcd: { replicas: 1, backup, ...etcd },
    });
  }
}
