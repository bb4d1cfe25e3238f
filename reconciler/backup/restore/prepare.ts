import type { WorkContext } from '../../engine/tasks/background-work.ts';
import { ClusterBackups } from '../cluster-backups.ts';
import { backupId, type BackupName } from '../../../constructs/cluster/backup-names.ts';
import { readFolder } from '../own-backups.ts';
import { openStore } from '../store/store-access.ts';
import { type BareSnapshotChoice, chooseOwnFirst, describeForeign } from '../choose-backup.ts';
import type { PreparedBackup, RestoreSource, StoredBackups } from './prepared-backup.ts';
import { prepareBareSnapshot } from './prepare-bare-snapshot.ts';
import { readTimed } from './read-timed.ts';
import { readBackupKeys } from './recovery-bundle-keys.ts';
import { BackupNotFound, describeClaimed, describeMissing, refuseUnsuitable } from './refusals.ts';
import type { RestoreChoice } from './request.ts';
import { backUpNewestReachableMember } from './newest-reachable-member.ts';

/**
 * Chooses the backup and reads it completely once, including decryption, size and hash: before anything is changed, it
 * must be certain that the backup can be restored, and that its Secrets can then be read. With `isChecked` it reads
 * only the manifest, because the check is already done.
 * @throws BackupNotFound; InvalidConfiguration for Secrets; StoreError; any other error for an unusable backup
 */
export async function prepareBackup(
  restoreSource: RestoreSource,
  { isChecked }: { readonly isChecked: boolean },
  { signal, report, moved }: WorkContext,
): Promise<PreparedBackup> {
  return withBackupsOf(restoreSource, async (backups, hasKeys) => {
    const { choice } = restoreSource;
    // Without a manifest, only the content shows what a run must receive.
    if (choice.kind === 'bareSnapshot')
      return prepareBareSnapshot(choice.name, restoreSource, backups, { signal, report });
    const chosen = await choose(choice, restoreSource, backups, { signal, report });
    const backup = backupId(chosen);
    const manifest = await backups.manifest(chosen, signal);
    refuseUnsuitable(backup, manifest, restoreSource, hasKeys);
    const prepared = {
      backup,
      snapshot: manifest,
      read: (store: ClusterBackups, stop: AbortSignal) => store.readSnapshot(chosen, manifest, stop),
    };
    if (isChecked) return { ...prepared, encryptionKeys: [] };
    const reading = { clock: restoreSource.clock, signal };
    const encryptionKeys =
      manifest.objects.bundle === undefined
        ? []
        : await readBackupKeys(
            readTimed(
              backups.readRecoveryBundle(chosen, signal),
              `read the recovery bundle of backup ${backup}`,
              reading,
            ),
            restoreSource,
          );
    let bytes = 0;
    const source = readTimed(backups.readSnapshot(chosen, manifest, signal), `read backup ${backup}`, reading);
    for await (const chunk of source) {
      bytes += chunk.length;
      moved?.(chunk.length);
      report(`checked ${amount(bytes)} of ${amount(manifest.sizeBytes)} of backup ${backup}`);
    }
    if (restoreSource.isContended) await claim(chosen, restoreSource, backups, signal);
    return { ...prepared, encryptionKeys };
  });
}

/** Last, because a HostedControlPlane that cannot restore the data must not keep the other one from going on with them. */
async function claim(
  backup: BackupName,
  { incarnation: { uid } }: RestoreSource,
  backups: ClusterBackups,
  signal: AbortSignal,
): Promise<void> {
  const owner = await backups.claim(backup, uid, signal);
  if (owner !== uid) throw new Error(describeClaimed(backupId(backup), owner));
}

async function choose(
  choice: Exclude<RestoreChoice, BareSnapshotChoice>,
  { reachableMembers, incarnation, isOwn, isNamed, owner }: RestoreSource,
  backups: ClusterBackups,
  context: WorkContext,
): Promise<BackupName> {
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
      throw new BackupNotFound(
        `${describeMissing(choice, owner, [...found.own, ...found.foreign])}${await besides(backups, context.signal)}`,
      );
    case 'foreign':
    case 'ambiguous':
      throw new BackupNotFound(describeForeign(chosen, owner));
  }
}

/** Opens backups for the duration of `use`. */
export async function withBackupsOf<T>(
  { namespace, store: spec, storeReader, owner }: StoredBackups,
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

/** Snapshots of another provider, which only their names select. */
async function besides(backups: ClusterBackups, signal: AbortSignal): Promise<string> {
  const [last, ...others] = (await backups.list(signal)).bareSnapshots;
  if (last === undefined) return '';
  return `; it contains snapshots without a manifest (${others.length + 1}): set etcd.restore.backup to the name of one, such as ${last}, to restore it`;
}
