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

/** A schedule so far in the future that a test gets only the first backup, which is due at once, and those it requests. */
const monthsAway = `0 0 1 ${((new Date().getUTCMonth() + 6) % 12) + 1} *`;

/** The `etcd.backup` settings for the bucket of a {@link BackupWorkbench}. Backups are verified by a restore. */
export const verifiedBackup = { schedule: monthsAway, secret: { name: 'backups' } } as const;

/** The same without verification, for tests in which neither a verification pod nor a backup kept for one may appear. */
export const unverifiedBackup = { ...verifiedBackup, verify: { disabled: true } } as const;

export interface BackupWorkbenchOptions {
  readonly namespace: string;
  /** Leaves out the operator image when no pod restores: packing it takes seconds. By default it is loaded. */
  readonly withoutImage?: boolean;
  /** A non-default S3 server. By default the workbench starts one with TLS. */
  readonly s3?: S3;
  /** The endpoint that operators use, if it is not the address that the server listens on. */
  readonly endpoint?: string;
}

/**
 * A namespace whose control planes are backed up and restored, with an operator, an S3 server with a bucket, and the
 * bucket's Secret.
 */
export class BackupWorkbench extends OperatedNamespace {
  readonly s3: S3;
  /** The bucket, accessed without the code under test. */
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

  /**
   * Writes the Secret of the bucket, whole or with faults that the test requests; under another name for a cluster with its own
   * Secret.
   */
  async setStore(
    changes: Readonly<Record<string, string>> = {},
    name: string = verifiedBackup.secret.name,
  ): Promise<void> {
    const secret = this.secretOfStore({ namespace: this.namespace, name }, changes);
    await this.client.apply(secret, { fieldManager: 'test', force: true });
  }

  /** The Secret of the bucket, for any namespace. */
  secretOfStore(place: { readonly namespace: string; readonly name: string }, changes = {}) {
    const { settings } = this.s3;
    return storeSecret(place, { ...settings, endpoint: this.#endpoint ?? settings.endpoint }, changes);
  }

  /** The backups of a cluster as stored in the bucket. */
  backups(cluster: string, keys: readonly EncryptionKey[] = []): ClusterBackups {
    return new ClusterBackups(this.store, { namespace: this.namespace, cluster }, keys);
  }

  /** Requests a backup as a user does. */
  async requestBackup(cluster: string, request: string): Promise<void> {
    await this.patch(cluster, { metadata: { annotations: { [backupAnnotation]: request } } });
  }

  /** Resolves with the name of the backup made for a request; without a request, with the first known backup. */
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

  /** Requests a backup and resolves with its name when it exists. */
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
