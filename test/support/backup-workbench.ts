import { inject } from 'vitest';
import { backupAnnotation } from '../../constructs/api/group.ts';
import { ClusterBackups } from '../../reconciler/backup/cluster-backups.ts';
import { ObjectStore } from '../../reconciler/backup/object-store.ts';
import type { EncryptionKey } from '../../reconciler/backup/encryption-keys.ts';
import { instanceFrom } from '../testbed/instance.ts';
import { storeSecret } from './backup-secrets.ts';
import { OperatedNamespace } from './operated-namespace.ts';
import { loadOperatorImage } from './provider.ts';
import { type S3, startS3 } from './s3.ts';
import { until } from './until.ts';

/** Besides the first backup, which is due at once, a test gets only those that it asks for. */
const monthsAway = `0 0 1 ${((new Date().getUTCMonth() + 6) % 12) + 1} *`;

/** What `etcd.backup` needs to name the bucket of a {@link BackupWorkbench}; backups are restored for a trial. */
export const triedBackup = { schedule: monthsAway, secret: { name: 'backups' } } as const;

/** The same without trials: for tests to which neither their pods nor a backup that is kept for them may come. */
export const untriedBackup = { ...triedBackup, verify: { disabled: true } } as const;

export interface BackupWorkbenchOptions {
  readonly namespace: string;
  /** Leaves the operator's image out, where no pod restores: packing it takes seconds. By default it is loaded. */
  readonly withoutImage?: boolean;
  /** The S3 server, where it is a special one. By default one of its own, with TLS. */
  readonly s3?: S3;
  /** Where operators look for it, when that is not where it listens. */
  readonly endpoint?: string;
}

/**
 * A namespace whose control planes are backed up and restored: its operator, an S3 server with a bucket, and the Secret
 * of that.
 */
export class BackupWorkbench extends OperatedNamespace {
  readonly s3: S3;
  /** The bucket, beside the code under test. */
  readonly store: ObjectStore;
  readonly #endpoint: string | undefined;

  private constructor({ namespace, endpoint }: BackupWorkbenchOptions, s3: S3) {
    super(namespace);
    this.s3 = s3;
    this.store = new ObjectStore(s3.settings);
    this.#endpoint = endpoint;
  }

  static async start(options: BackupWorkbenchOptions): Promise<BackupWorkbench> {
    if (!options.withoutImage) await loadOperatorImage(instanceFrom(process.env, inject('testbed')), () => {});
    const s3 = options.s3 ?? (await startS3('tls'));
    const bench = new BackupWorkbench(options, s3);
    await bench.make(inject('kubeconfig'));
    await bench.setStore();
    await bench.startOperator();
    return bench;
  }

  /** Writes the Secret of the bucket, whole or with what a test puts wrong; by another name for a cluster of its own. */
  async setStore(
    changes: Readonly<Record<string, string>> = {},
    name: string = triedBackup.secret.name,
  ): Promise<void> {
    const { settings } = this.s3;
    const secret = storeSecret(
      { namespace: this.namespace, name },
      { ...settings, endpoint: this.#endpoint ?? settings.endpoint },
      changes,
    );
    await this.client.apply(secret, { fieldManager: 'test', force: true });
  }

  /** The backups of a cluster as they lie in the bucket. */
  backups(cluster: string, keys: readonly EncryptionKey[] = []): ClusterBackups {
    return new ClusterBackups(this.store, { namespace: this.namespace, cluster }, keys);
  }

  /** Asks for a backup as a user does. */
  async requestBackup(cluster: string, request: string): Promise<void> {
    await this.patch(cluster, { metadata: { annotations: { [backupAnnotation]: request } } });
  }

  /** Resolves with the name of the backup that a request has led to; without one, with the first that is known. */
  untilBackup(cluster: string, request: string | undefined, limitMs: number): Promise<string> {
    return until(
      `the backup of ${cluster}${request === undefined ? '' : ` for "${request}"`}`,
      async () => {
        const known = (await this.get(cluster)).status?.etcd?.backup;
        return known?.lastRequest === request ? known?.lastBackup : undefined;
      },
      limitMs,
    );
  }

  /** Asks for a backup and resolves with its name when it is there. */
  async takeBackup(cluster: string, request: string, limitMs: number): Promise<string> {
    await this.requestBackup(cluster, request);
    return this.untilBackup(cluster, request, limitMs);
  }

  override async close(): Promise<void> {
    await super.close();
    this.store.close();
    await this.s3.stop();
  }
}
