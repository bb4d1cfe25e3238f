import { inject } from 'vitest';
import { backupAnnotation } from '../../constructs/api/group.ts';
import { HostedControlPlane, Secret } from '../../constructs/api/resources.ts';
import { definedOnly } from '../../constructs/cluster/defined-only.ts';
import { ClusterBackups } from '../../reconciler/backup/cluster-backups.ts';
import { ObjectStore } from '../../reconciler/backup/store/object-store.ts';
import type { EncryptionKey } from '../../reconciler/backup/encryption-keys.ts';
import { instanceFrom } from '../tools/testbed/instance.ts';
import { storeSecret } from './backup-secrets.ts';
import type { Loan } from './lent/loan.ts';
import { OperatedNamespace } from './operated-namespace.ts';
import { loadOperatorImage } from './provider.ts';
import { type S3, startS3 } from './s3.ts';
import { until } from './until.ts';
import type { HostedControlPlaneObject } from './workbench.ts';

/** A schedule so far in the future that a test gets only the first backup, which is due at once, and those it requests. */
const monthsAway = `0 0 1 ${((new Date().getUTCMonth() + 6) % 12) + 1} *`;

/** The `etcd.backup` settings for the bucket of a {@link BackupWorkbench}. Backups are verified by a restore. */
export const verifiedBackup = { schedule: monthsAway, secret: { name: 'backups' } } as const;

/** The same without verification, for tests in which neither a verification pod nor a backup kept for one may appear. */
export const unverifiedBackup = { ...verifiedBackup, verify: { disabled: true } } as const;

export interface BackupWorkbenchOptions {
  readonly namespace: string;
  /** A lent control plane, if the namespace is not its own. What its tests change in the spec is undone when it closes. */
  readonly loan?: Loan;
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

  /** The names of its Secrets. */
  readonly #secrets = new Set<string>();
  readonly #isReturned: boolean;

  private constructor({ namespace, loan, endpoint }: BackupWorkbenchOptions, s3: S3, prepare: () => Promise<unknown>) {
    super(namespace, { prepare, ...definedOnly({ loan }) });
    this.#isReturned = loan?.isReturned ?? false;
    this.s3 = s3;
    this.store = new ObjectStore(s3.settings);
    this.#endpoint = endpoint;
  }

  /** Starts one on a lent control plane, whose namespace is that of the lender. */
  static borrow(
    loan: Loan,
    options: Omit<BackupWorkbenchOptions, 'namespace' | 'loan'> = {},
  ): Promise<BackupWorkbench> {
    return BackupWorkbench.start({ ...options, namespace: loan.kind.namespace, loan });
  }

  static async start(options: BackupWorkbenchOptions): Promise<BackupWorkbench> {
    if (!options.withoutImage) await loadOperatorImage(instanceFrom(process.env, inject('testbed')), () => {});
    const s3 = options.s3 ?? (await startS3('tls'));
    const bench: BackupWorkbench = new BackupWorkbench(options, s3, () => bench.setStore());
    await bench.open().catch(async (error: unknown) => {
      await bench.close().catch(() => {});
      throw error;
    });
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
    this.#secrets.add(name);
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
    try {
      if (this.#isReturned) await this.#undoBackups();
    } finally {
      await super.close();
      this.store.close();
      await this.s3.stop();
    }
  }

  async #undoBackups(): Promise<void> {
    const { namespace } = this;
    await this.undo();
    await this.#forgetBackups();
    await Promise.all([...this.#secrets].map((name) => this.client.delete(Secret, { namespace, name })));
  }

  /** Otherwise the operator would take no first backup in the bucket of the next borrower. */
  async #forgetBackups(): Promise<void> {
    const { namespace } = this;
    const etcd = { backup: null, lastVerifiedBackup: null };
    const status = { etcdLastBackupTime: null, etcdNextBackupTime: null, etcd };
    await until('the status to record no backup', async () => {
      const { items } = await this.client.list<HostedControlPlaneObject>(HostedControlPlane, { namespace });
      const known = items.filter(({ status: now }) => now?.etcd?.backup ?? now?.etcd?.lastVerifiedBackup);
      const names = known.map(({ metadata }) => ({ namespace, name: metadata.name }));
      const change = { fieldManager: 'test', subresource: 'status' };
      for (const name of names) await this.client.mergePatch(HostedControlPlane, name, { status }, change);
      return names.length === 0;
    });
  }
}
