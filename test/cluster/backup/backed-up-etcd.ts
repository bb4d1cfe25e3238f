import { Backup } from '../../../constructs/api/backup-spec.ts';
import { ClusterBackups } from '../../../reconciler/backup/cluster-backups.ts';
import { ObjectStore } from '../../../reconciler/backup/store/object-store.ts';
import { type BackupAttempt, type BackupResult, takeBackup } from '../../../reconciler/backup/take-backup.ts';
import { storeSecret } from '../../support/backup-secrets.ts';
import { startS3, type S3 } from '../../support/s3.ts';
import { EtcdProcesses } from '../etcd/etcd-processes.ts';
import { settle } from '../etcd/settle.ts';

export const hour = 3_600_000;

/** Every day, but not within hours of the test run. */
const daily = `0 ${(new Date().getUTCHours() + 12) % 24} * * *`;
const place = { namespace: 'team', name: 's3' };

/** Three members of etcd and a store, between which tests take backups as the operator does. */
export class BackedUpEtcd {
  readonly etcd: EtcdProcesses;
  readonly s3: S3;
  readonly store: ObjectStore;
  /** What the attempts have reported. */
  readonly progress: string[] = [];

  private constructor(etcd: EtcdProcesses, s3: S3) {
    this.etcd = etcd;
    this.s3 = s3;
    this.store = new ObjectStore(s3.settings);
  }

  /** @param flags of etcd, by default none */
  static async start(flags?: readonly string[]): Promise<BackedUpEtcd> {
    const started = new BackedUpEtcd(...(await Promise.all([EtcdProcesses.start(3, 3, flags), startS3()])));
    await settle(started.etcd, 3);
    return started;
  }

  backupsOf(cluster: string): ClusterBackups {
    return new ClusterBackups(this.store, { namespace: 'team', cluster });
  }

  /** An attempt whose clock is this many hours ahead. */
  async attempt(cluster: string, changes: Partial<BackupAttempt> = {}, hoursAhead = 0): Promise<BackupResult> {
    const { members } = await this.etcd.observe();
    return takeBackup(
      {
        owner: { namespace: 'team', cluster },
        incarnation: { uid: 'production', createdAt: 0, clusterId: 'of no etcd' },
        spec: Backup.parse({ schedule: daily, secret: { name: 's3' }, retention: { maxCount: 2 } }),
        schedule: { expression: daily, identity: 'team/c1' },
        causes: [],
        lastKnown: undefined,
        kubernetesVersion: 'v1.36.3',
        members,
        openEtcd: () => ({ clients: this.etcd.clients, close: () => {} }),
        storeReader: {
          secret: async () => storeSecret(place, this.s3.settings),
          serviceAccountToken: async () => 'none',
        },
        bundle: async () => 'never requested without a key',
        clock: { now: () => Date.now() + hoursAhead * hour },
        ...changes,
      },
      { signal: new AbortController().signal, report: (text) => this.progress.push(text) },
    );
  }

  async stop(): Promise<void> {
    this.store.close();
    await Promise.all([this.etcd.stop(), this.s3.stop()]);
  }
}
