import { foundedClusterIds } from '../etcd/derived-ids.ts';
import type { Manifest } from './manifest.ts';
import type { BackupName, BackupOwner } from '../../constructs/cluster/backup-names.ts';
import type { OwnerMarker } from './owner-marker.ts';

/** A control plane as one object in one management cluster: what distinguishes it from others of its name. */
export interface Incarnation {
  /** Of the HostedControlPlane. */
  readonly uid: string;
  /** When the HostedControlPlane was created, in milliseconds since the epoch. */
  readonly createdAt: number;
  /** ID of its etcd cluster, in hexadecimal digits; undefined until etcd has formed. */
  readonly clusterId: string | undefined;
}

/** What a folder of backups is named after. */
export interface OwnerNames {
  readonly name: string;
  readonly namespace: string;
}

/** Owner of a cluster's own backups. */
export function ownerOf({ name, namespace }: OwnerNames): BackupOwner {
  return { namespace, cluster: name };
}

/** A backup, and the uid in its marker; none if an earlier release took it. */
export interface MarkedBackup extends BackupName {
  readonly owner?: string | undefined;
}

/** The incarnation of a HostedControlPlane. */
export function incarnationOf({
  metadata: { uid = '', creationTimestamp },
  status,
}: {
  readonly metadata: { readonly uid?: string | undefined; readonly creationTimestamp?: string | undefined };
  readonly status?: { readonly etcd?: { readonly clusterID?: string | undefined } | undefined } | undefined;
}): Incarnation {
  return { uid, createdAt: Date.parse(creationTimestamp ?? '') || 0, clusterId: status?.etcd?.clusterID };
}

/**
 * Whether the owner of this backup, its newest, may be an earlier object: one that has written since is another control
 * plane, such as a copy of the volumes beside the original.
 */
export function isOver({ time }: BackupName, { createdAt }: Incarnation): boolean {
  return time < createdAt;
}

/**
 * Whether an earlier object for the same etcd has written this marker. The ID of an etcd that started empty proves
 * nothing, because it derives from the name: a Cluster that is created again gets the same ID. The ID of a restored etcd
 * is unique.
 */
export function isContinued(marker: OwnerMarker, { clusterId }: Incarnation, owner: BackupOwner): boolean {
  return clusterId !== undefined && marker.clusterIds.includes(clusterId) && !isFounded(clusterId, owner);
}

/**
 * Whether a backup without a marker is its own. One of a predecessor with the same etcd ID is older than the object, and
 * one of a rebuilt Cluster has the ID of a restored etcd.
 */
export function isOwnUnmarked(
  { clusterId: id }: Pick<Manifest, 'clusterId'>,
  { time }: BackupName,
  { createdAt, clusterId }: Incarnation,
  owner: BackupOwner,
): boolean {
  return time >= createdAt && (id === clusterId || isFounded(id, owner));
}

/**
 * The newest foreign backup that was taken after one of these: its owner is no predecessor, but another control plane
 * that writes into the same folder. Undefined if there is none.
 */
export function contemporary<T extends BackupName>(own: readonly BackupName[], foreign: readonly T[]): T | undefined {
  const oldest = Math.min(...own.map(({ time }) => time));
  return foreign
    .filter(({ time }) => time > oldest)
    .toSorted((one, other) => other.time - one.time)
    .at(0);
}

function isFounded(clusterId: string, { namespace, cluster }: BackupOwner): boolean {
  return foundedClusterIds({ namespace, name: cluster }).includes(clusterId);
}
