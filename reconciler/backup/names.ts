/** Whose backups they are. */
export interface BackupOwner {
  readonly namespace: string;
  /** Name of the Cluster. */
  readonly cluster: string;
}

/** One backup of a cluster. Its objects lie in a folder of their own. */
export interface BackupName {
  /** When it was begun, in milliseconds since the epoch. */
  readonly time: number;
  /** Revision of etcd just before the snapshot: it holds everything up to it, maybe more. */
  readonly revision: number;
}

/**
 * The objects of a backup, all directly in its folder: some stores refuse a key that is a folder of another one.
 */
export const objectNames = {
  /** Written last and deleted first: without it the others are not a backup. */
  manifest: 'manifest.json',
  snapshot: 'snapshot.db',
  encryptedSnapshot: 'snapshot.db.encrypted',
  /** What else is needed to rebuild the cluster elsewhere, always encrypted. */
  encryptedRecoveryBundle: 'bundle.encrypted',
  /** There once the backup has been restored for a trial. */
  verification: 'verification.json',
} as const;

/** Key prefix of all backups of a cluster, ending in a slash. `prefix` is that of the bucket, without slashes around. */
export function ownerFolder(prefix: string, { namespace, cluster }: BackupOwner): string {
  return `${prefix === '' ? '' : `${prefix}/`}${namespace}/${cluster}/`;
}

/**
 * How users name a backup: `2026-11-21T09-15-31.123Z-4711`. The order of names is the order of time, and there is no
 * colon in them, which file systems and some stores do not take.
 */
export function backupId({ time, revision }: BackupName): string {
  return `${new Date(time).toISOString().replaceAll(':', '-')}-${revision}`;
}

const idPattern = /^(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d\.\d{3}Z)-(0|[1-9]\d{0,15})$/;

/** The backup of an id, or undefined when it is not one that {@link backupId} gives. */
export function parseBackupId(id: string): BackupName | undefined {
  const [, hour, minute, second, revision] = idPattern.exec(id) ?? [];
  const name = { time: Date.parse(`${hour}:${minute}:${second}`), revision: Number(revision) };
  // Date.parse takes February 30th for March 2nd
  return Number.isNaN(name.time) || backupId(name) !== id ? undefined : name;
}

/** Key of an object of a backup. */
export function objectKey(folder: string, backup: BackupName, object: string): string {
  return `${folder}${backupId(backup)}/${object}`;
}

/** The backup and object of a key below an {@link ownerFolder}, or undefined for a key that is none of ours. */
export function parseObjectKey(folder: string, key: string): { backup: BackupName; object: string } | undefined {
  if (!key.startsWith(folder)) return undefined;
  const [id = '', object = '', ...deeper] = key.slice(folder.length).split('/');
  const backup = parseBackupId(id);
  return backup && object !== '' && deeper.length === 0 ? { backup, object } : undefined;
}
