import { compare, parse } from 'semver';
import type { Backup } from '../../constructs/api/backup-spec.ts';
import type { WorkContext } from '../tasks/background-work.ts';
import { ClusterBackups, type StoredBackup } from '../backup/cluster-backups.ts';
import type { Manifest } from '../backup/manifest.ts';
import { backupId, type BackupName, type BackupOwner } from '../backup/names.ts';
import { stalledError } from '../backup/store-error.ts';
import { withStallTimer } from '../kube/stall.ts';
import { readFolder } from '../backup/own-backups.ts';
import type { Incarnation } from '../backup/ownership.ts';
import { openStore, type StoreReader } from '../backup/store-access.ts';
import { chooseOwnFirst, type Choice, describeForeign } from '../backup/choose-backup.ts';
import type { Key } from '../encryption-at-rest/configuration.ts';
import type { Clock } from '../kube/clock.ts';
import { readBackupKeys } from './recovery-bundle-keys.ts';
import type { RestoreChoice } from './request.ts';
import { backUpNewestReachableMember, type ReachableMembers } from './newest-reachable-member.ts';

/** A backup that can be restored. */
export interface PreparedBackup {
  readonly backup: string;
  readonly manifest: Manifest;
  /**
   * Keys that encrypt its Secrets, if the recovery bundle contains them; none once they are among the keys of this
   * cluster. Never print them.
   */
  readonly encryptionKeys: readonly Key[];
}

export interface RestoreSource {
  readonly owner: BackupOwner;
  /** The owner is the Cluster that is restored, or an earlier one of the same name. */
  readonly isOwn: boolean;
  /** The control plane that is restored. */
  readonly incarnation: Incarnation;
  /** The user names the folder of the backup, instead of meaning this control plane's own. */
  readonly isNamed: boolean;
  readonly choice: RestoreChoice;
  /** Source of data that no backup contains. */
  readonly reachableMembers: ReachableMembers;
  /** Namespace of the HostedControlPlane, whose Secrets give access to the store. */
  readonly namespace: string;
  readonly store: Pick<Backup, 'secret' | 'webIdentity' | 'encryption'>;
  readonly storeReader: StoreReader;
  /** Version of etcd that will use the data. */
  readonly etcdVersion: string;
  readonly clock: Clock;
}

/** The requested backup does not exist. */
export class BackupNotFound extends Error {
  override readonly name = 'BackupNotFound';
}

const stallMs = 60_000;

/**
 * Chooses the backup and reads it completely once, including decryption, size and hash: before anything is changed, it
 * must be certain that the backup can be restored, and that its Secrets can then be read. With `isChecked` it reads
 * only the manifest, because the check is already done.
 * @throws BackupNotFound; InvalidConfiguration for Secrets; StoreError; any other error for an unusable backup
 */
export async function prepareBackup(
  restoreSource: RestoreSource,
  { isChecked }: { readonly isChecked: boolean },
  { signal, report }: WorkContext,
): Promise<PreparedBackup> {
  return withBackupsOf(restoreSource, async (backups, hasKeys) => {
    const chosen = await choose(restoreSource, backups, { signal, report });
    const backup = backupId(chosen);
    const manifest = await backups.manifest(chosen, signal);
    refuseUnsuitable(backup, manifest, restoreSource, hasKeys);
    if (isChecked) return { backup, manifest, encryptionKeys: [] };
    const timed = (stream: AsyncIterable<Uint8Array>, what: string) =>
      withStallTimer(stream, { what, limitMs: stallMs, clock: restoreSource.clock, signal, stalled: stalledError });
    const encryptionKeys =
      manifest.objects.bundle === undefined
        ? []
        : await readBackupKeys(
            timed(backups.readRecoveryBundle(chosen, signal), `read the recovery bundle of backup ${backup}`),
            restoreSource,
          );
    let bytes = 0;
    const source = timed(backups.readSnapshot(chosen, manifest, signal), `read backup ${backup}`);
    for await (const chunk of source) {
      bytes += chunk.length;
      report(`checked ${amount(bytes)} of ${amount(manifest.sizeBytes)} of backup ${backup}`);
    }
    return { backup, manifest, encryptionKeys };
  });
}

async function choose(
  restoreSource: RestoreSource,
  backups: ClusterBackups,
  context: WorkContext,
): Promise<BackupName> {
  const { choice, reachableMembers, incarnation, isOwn, isNamed, owner } = restoreSource;
  if (choice.kind === 'reachableMember') {
    const folder = await readFolder(backups, incarnation, context.signal);
    return backUpNewestReachableMember(reachableMembers, choice.revision, { backups, folder }, context);
  }
  context.report('choosing the backup');
  const found = isOwn
    ? await readFolder(backups, incarnation, context.signal)
    : { own: [], foreign: (await backups.list(context.signal)).backups };
  const chosen = chooseOwnFirst(choice, found, isNamed || incarnation.clusterId === undefined);
  switch (chosen.kind) {
    case 'chosen':
      return chosen.backup;
    case 'none':
      throw new BackupNotFound(describeMissing(choice, owner, [...found.own, ...found.foreign]));
    case 'foreign':
    case 'ambiguous':
      throw new BackupNotFound(describeForeign(chosen, owner));
  }
}

/** Opens the backups of a restore source for the duration of `use`. */
export async function withBackupsOf<T>(
  { namespace, store: spec, storeReader, owner }: RestoreSource,
  use: (backups: ClusterBackups, hasKeys: boolean) => Promise<T>,
): Promise<T> {
  const { store, keys } = await openStore({ namespace, owner }, spec, storeReader);
  try {
    return await use(new ClusterBackups(store, owner, keys), keys.length > 0);
  } finally {
    store.close();
  }
}

/** Mebibytes, for users. */
export function amount(bytes: number): string {
  return `${Math.ceil(bytes / 1024 ** 2)} MiB`;
}

function describeMissing(choice: Choice, owner: BackupOwner, found: readonly StoredBackup[]): string {
  const whose = `${owner.namespace}/${owner.cluster}`;
  const [newest] = found;
  const oldest = found.at(-1);
  if (!newest || !oldest)
    return `the bucket contains no backup of ${whose}: check etcd.restore.from, and the bucket in the Secret`;
  const wanted = choice.kind === 'backup' ? choice.id : `from before ${choice.kind === 'before' ? choice.before : ''}`;
  return `the bucket contains no backup ${wanted} of ${whose}: choose one of its ${found.length} backups from ${backupId(oldest)} to ${backupId(newest)}`;
}

function refuseUnsuitable(backup: string, manifest: Manifest, restoreSource: RestoreSource, hasKeys: boolean): void {
  if (hasKeys && !manifest.encryption && !['backup', 'reachableMember'].includes(restoreSource.choice.kind)) {
    // Otherwise any client with write access to the bucket, but without a key, could inject data into the cluster.
    throw new Error(
      `backup ${backup} is not encrypted, although etcd.backup.encryption is set: set etcd.restore.backup to its name to restore it`,
    );
  }
  const from = parse(manifest.etcdVersion.replace(/-\d+$/, ''));
  const to = parse(restoreSource.etcdVersion.replace(/-\d+$/, ''));
  if (from && to && compare(`${from.major}.${from.minor}.0`, `${to.major}.${to.minor}.0`) > 0) {
    throw new Error(
      `backup ${backup} was taken from etcd ${manifest.etcdVersion}, but etcd ${restoreSource.etcdVersion} cannot read data of a newer minor version: set etcd.version to ${manifest.etcdVersion} or newer`,
    );
  }
}
