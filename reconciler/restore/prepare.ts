import { compare, parse } from 'semver';
import type { Backup } from '../../constructs/api/backup-spec.ts';
import type { WorkContext } from '../tasks/background-work.ts';
import { ClusterBackups, type StoredBackup } from '../backup/cluster-backups.ts';
import type { Manifest } from '../backup/manifest.ts';
import { backupId, type BackupName, type BackupOwner } from '../backup/names.ts';
import { stalledError } from '../backup/store-error.ts';
import { withStallTimer } from '../kube/stall.ts';
import { openStore, type StoreReader } from '../backup/store-access.ts';
import { chosenBackup, type Choice } from '../backup/choose-backup.ts';
import type { Key } from '../encryption-at-rest/configuration.ts';
import type { Clock } from '../kube/clock.ts';
import { readBackupKeys } from './recovery-bundle-keys.ts';
import type { RestoreChoice } from './request.ts';
import { backUpNewestReachableMember, type ReachableMembers } from './newest-reachable-member.ts';

/** A backup that can be restored. */
export interface PreparedBackup {
  readonly backup: string;
  readonly manifest: Manifest;
  /** What its Secrets are encrypted with, as far as a bundle tells; none once that is among our own keys. Not to be told. */
  readonly encryptionKeys: readonly Key[];
}

export interface RestoreSource {
  readonly owner: BackupOwner;
  /** The owner is the Cluster that is restored, or was one of its name. */
  readonly isOwn: boolean;
  readonly choice: RestoreChoice;
  /** Where data is that no backup has. */
  readonly reachableMembers: ReachableMembers;
  /** Namespace of the HostedControlPlane, whose Secrets open the store. */
  readonly namespace: string;
  readonly store: Pick<Backup, 'secret' | 'webIdentity' | 'encryption'>;
  readonly storeReader: StoreReader;
  /** Version of etcd that will run on the data. */
  readonly etcdVersion: string;
  readonly clock: Clock;
}

/** There is no backup such as the one that is asked for. */
export class BackupNotFound extends Error {
  override readonly name = 'BackupNotFound';
}

const stallMs = 60_000;

/**
 * Chooses the backup and reads all of it once, through decryption, size and hash: before anything is touched it must be
 * certain that it can be restored, and that its Secrets can be read then. With `isChecked` only its manifest is read,
 * because that was done before.
 * @throws BackupNotFound; InvalidConfiguration for Secrets; StoreError; any other error for a backup that is no good
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
            timed(backups.readRecoveryBundle(chosen, signal), `read the bundle of backup ${backup}`),
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
  const { choice, reachableMembers } = restoreSource;
  if (choice.kind === 'survivor')
    return backUpNewestReachableMember(reachableMembers, choice.revision, backups, context);
  context.report('choosing the backup');
  const { backups: found } = await backups.list(context.signal);
  const chosen = chosenBackup(choice, found);
  if (chosen) return chosen;
  throw new BackupNotFound(describeMissing(choice, restoreSource.owner, found));
}

/** Opens the backups of the wish for as long as `use` takes. */
export async function withBackupsOf<T>(
  { namespace, store: spec, storeReader, owner }: RestoreSource,
  use: (backups: ClusterBackups, hasKeys: boolean) => Promise<T>,
): Promise<T> {
  const { store, keys } = await openStore(namespace, spec, storeReader);
  try {
    return await use(new ClusterBackups(store, owner, keys), keys.length > 0);
  } finally {
    store.close();
  }
}

/** Mebibytes for people. */
export function amount(bytes: number): string {
  return `${Math.ceil(bytes / 1024 ** 2)} MiB`;
}

function describeMissing(choice: Choice, owner: BackupOwner, found: readonly StoredBackup[]): string {
  const whose = `${owner.namespace}/${owner.cluster}`;
  const [newest] = found;
  const oldest = found.at(-1);
  if (!newest || !oldest) return `there is no backup of ${whose} in the bucket`;
  const wanted = choice.kind === 'backup' ? choice.id : `begun before ${choice.kind === 'before' ? choice.before : ''}`;
  return `there is no backup ${wanted} of ${whose}: there are ${found.length}, from ${backupId(oldest)} to ${backupId(newest)}`;
}

function refuseUnsuitable(backup: string, manifest: Manifest, restoreSource: RestoreSource, hasKeys: boolean): void {
  if (hasKeys && !manifest.encryption && !['backup', 'survivor'].includes(restoreSource.choice.kind)) {
    // Whoever can write to the bucket, and has no key, could else put data of his own into the cluster.
    throw new Error(`backup ${backup} is not encrypted, though etcd.backup.encryption is set: name it to restore it`);
  }
  const from = parse(manifest.etcdVersion.replace(/-\d+$/, ''));
  const to = parse(restoreSource.etcdVersion.replace(/-\d+$/, ''));
  if (from && to && compare(`${from.major}.${from.minor}.0`, `${to.major}.${to.minor}.0`) > 0) {
    throw new Error(
      `backup ${backup} is of etcd ${manifest.etcdVersion}, and etcd ${restoreSource.etcdVersion} cannot read what a later one wrote: set etcd.version`,
    );
  }
}
