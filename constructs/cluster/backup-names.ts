import { isBareSnapshot } from '../api/restore-spec.ts';

/** Owner of backups. */
export interface BackupOwner {
  readonly namespace: string;
  /** Name of the Cluster. */
  readonly cluster: string;
}

/** One backup of a cluster. Its objects have a folder of their own. */
export interface BackupName {
  /** When it began, in milliseconds since the epoch. */
  readonly time: number;
  /** Revision of etcd just before the snapshot. The snapshot contains all writes up to it, and possibly later ones. */
  readonly revision: number;
}

/**
 * The objects of a backup, all directly in its folder, because some stores refuse a key that is a prefix folder of
 * another key.
 */
export const objectNames = {
  /** Written last and deleted first. Without it, the other objects are not a backup. */
  manifest: 'manifest.json',
  snapshot: 'snapshot.db',
  encryptedSnapshot: 'snapshot.db.encrypted',
  /** Everything else that is needed to rebuild the cluster elsewhere; always encrypted. */
  encryptedRecoveryBundle: 'bundle.encrypted',
  /** Exists once the backup has passed verification. */
  verification: 'verification.json',
  /** Names the one HostedControlPlane that goes on with the data, once two may have them. */
  claim: 'claim.json',
} as const;

/**
 * Key prefix of all backups of a cluster, with a trailing slash. `prefix` is that of the bucket, without surrounding
 * slashes.
 */
export function ownerFolder(prefix: string, { namespace, cluster }: BackupOwner): string {
  return `${prefix === '' ? '' : `${prefix}/`}${namespace}/${cluster}/`;
}

/**
 * The name of a backup for users: `2026-11-21T09-15-31.123Z-4711`. Names sort by time, and contain no colon, which file
 * systems and some stores do not support.
 */
export function backupId({ time, revision }: BackupName): string {
  return `${new Date(time).toISOString().replaceAll(':', '-')}-${revision}`;
}

const idPattern = /^(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d\.\d{3}Z)-(0|[1-9]\d{0,15})$/;

/** The backup with this ID; undefined if {@link backupId} does not return such an ID. */
export function parseBackupId(id: string): BackupName | undefined {
  const [, hour, minute, second, revision] = idPattern.exec(id) ?? [];
  const name = { time: Date.parse(`${hour}:${minute}:${second}`), revision: Number(revision) };
  // Date.parse converts February 30th to March 2nd.
  return Number.isNaN(name.time) || backupId(name) !== id ? undefined : name;
}

/** Key of an object of a backup. */
export function objectKey(folder: string, backup: BackupName, object: string): string {
  return `${folder}${backupId(backup)}/${object}`;
}

/** The backup and object of a key below an {@link ownerFolder}; undefined for other keys. */
export function parseObjectKey(folder: string, key: string): { backup: BackupName; object: string } | undefined {
  if (!key.startsWith(folder)) return undefined;
  const [id = '', object = '', ...deeper] = key.slice(folder.length).split('/');
  const backup = parseBackupId(id);
  return backup && object !== '' && deeper.length === 0 ? { backup, object } : undefined;
}

/** The name of a bare snapshot below an {@link ownerFolder}; undefined for other keys. */
export function parseBareSnapshotKey(folder: string, key: string): string | undefined {
  const name = key.startsWith(folder) ? key.slice(folder.length) : '';
  return isBareSnapshot(name) ? name : undefined;
}
