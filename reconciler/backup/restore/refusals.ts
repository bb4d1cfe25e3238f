import { compare, parse } from 'semver';
import type { BackupChoice } from '../choose-backup.ts';
import type { StoredBackup } from '../cluster-backups.ts';
import type { Manifest } from '../manifest.ts';
import { parseVersion } from '../../../constructs/cluster/versions.ts';
import { backupId, type BackupOwner } from '../../../constructs/cluster/backup-names.ts';
import type { RestoreSource } from './prepared-backup.ts';

/** The requested backup does not exist. */
export class BackupNotFound extends Error {
  override readonly name = 'BackupNotFound';
}

/** Why no backup is chosen, as a sentence for the user. */
export function describeMissing(choice: BackupChoice, owner: BackupOwner, found: readonly StoredBackup[]): string {
  const whose = `${owner.namespace}/${owner.cluster}`;
  const [newest] = found;
  const oldest = found.at(-1);
  if (!newest || !oldest)
    return `the bucket contains no backup of ${whose}: check etcd.restore.from, and the bucket in the Secret`;
  const wanted = choice.kind === 'backup' ? choice.id : `from before ${choice.kind === 'before' ? choice.before : ''}`;
  return `the bucket contains no backup ${wanted} of ${whose}: choose one of its ${found.length} backups from ${backupId(oldest)} to ${backupId(newest)}`;
}

/** @throws a sentence for the user if etcd cannot use the backup, or the user has not named it */
export function refuseUnsuitable(
  backup: string,
  manifest: Manifest,
  restoreSource: RestoreSource,
  hasKeys: boolean,
): void {
  if (hasKeys && !manifest.encryption && !['backup', 'reachableMember'].includes(restoreSource.choice.kind)) {
    // Otherwise any client with write access to the bucket, but without a key, could inject data into the cluster.
    throw new Error(
      `backup ${backup} is not encrypted, although etcd.backup.encryption is set: set etcd.restore.backup to its name to restore it`,
    );
  }
  refuseNewerKubernetes(backup, manifest.kubernetesVersion, restoreSource.kubernetesVersion);
  refuseNewerEtcd(`backup ${backup}`, manifest.etcdVersion, restoreSource.etcdVersion);
}

/** API servers may have written what those of an earlier minor cannot read. */
function refuseNewerKubernetes(backup: string, taken: string, wanted: string): void {
  const [from, to] = [parseVersion(taken), parseVersion(wanted)];
  if (from && to && (from.major > to.major || (from.major === to.major && from.minor > to.minor))) {
    throw new Error(
      `backup ${backup} was taken from Kubernetes ${taken}, and ${wanted} may not support objects of a newer minor version: restore an older backup, or set the version to ${taken} or newer`,
    );
  }
}

/** @param what was taken from etcd @throws a sentence for the user if its version is newer than the wanted one */
export function refuseNewerEtcd(what: string, taken: string, wanted: string): void {
  const [from, to] = [taken, wanted].map((version) => parse(version.split('-', 1)[0]));
  if (from && to && compare(`${from.major}.${from.minor}.0`, `${to.major}.${to.minor}.0`) > 0) {
    throw new Error(
      `${what} was taken from etcd ${taken}, but etcd ${wanted} cannot read data of a newer minor version: set etcd.version to ${taken} or newer`,
    );
  }
}

/** The data of a move belong to another object. */
export function describeClaimed(backup: string, uid: string): string {
  return `the HostedControlPlane with uid ${uid} continues with the data of backup ${backup}, from which it or another one was moved: delete this one, or restore the backup by etcd.restore as a control plane of its own`;
}
