import type { ConditionReason } from '../../constructs/api/conditions.ts';
import { quantityValue } from '../../constructs/api/quantity.ts';
import type { HostedCluster } from '../../constructs/cluster/cluster.ts';
import { etcdMaxVolumeSize, etcdQuotaBytes, etcdVolumeSize } from '../../constructs/control-plane/etcd/config.ts';

/** The volumes of etcd and their usage, as observed. A lost status changes nothing. */
export interface Volumes {
  /** The volume claims of all members, except those that are being deleted. */
  readonly claims: readonly VolumeClaim[];
  /** Size in the StatefulSet's claim template; undefined without a StatefulSet. */
  readonly templateSize: string | undefined;
  /** Size for which the members' quota was last set; undefined if it is not known. */
  readonly quotaSize: string | undefined;
  /**
   * Space in use in the largest database of a member, without free space inside the file; undefined if no member
   * answers.
   */
  readonly usedBytes: number | undefined;
  /** Size of the largest database file of a member, free space inside included; undefined if no member answers. */
  readonly fileBytes: number | undefined;
}

interface VolumeClaim {
  readonly requested: string;
  /** Actual size of the volume; undefined until it exists. */
  readonly capacity: string | undefined;
}

/** The desired volumes of etcd. */
export interface VolumePlan {
  /** Size that every claim should request. */
  readonly size: string;
  /** Size that determines the members' quota. Every volume has it. */
  readonly quotaSize: string;
  /** Size in the StatefulSet's claim template, which Kubernetes does not allow to change. */
  readonly templateSize: string;
  /** What a person must change. */
  readonly problem?: VolumeProblem;
}

export interface VolumeProblem {
  readonly reason: Extract<ConditionReason, 'VolumeSizeChanged' | 'VolumeSizeExhausted' | 'VolumeNotExpandable'>;
  readonly message: string;
}

/**
 * Share of the quota in use above which volumes grow: early enough for a slow provisioner, and above what remains in
 * use when a defragmentation is worth it.
 */
export const growAbove = 0.6;

/** Share of the quota in use above which a condition warns the user, if volumes cannot grow automatically. */
export const warnAbove = 0.8;

/**
 * The size of etcd's volumes. They only grow: by doubling before the database reaches its quota, up to the maximum, or
 * to the size in the spec. The quota follows when all volumes have grown.
 */
export function planVolumes(cluster: Pick<HostedCluster, 'spec'>, volumes: Volumes): VolumePlan {
  const { etcd } = cluster.spec;
  const present = presentSize(cluster, volumes);
  const wanted = wantedSize(cluster, volumes, present);
  const size = largest([wanted, present ?? wanted]);
  const used = volumes.usedBytes ?? 0;
  return {
    size,
    quotaSize: quotaSize(volumes, size),
    templateSize: volumes.templateSize ?? size,
    ...(present !== undefined && !etcd.autoGrow && isLess(wanted, present)
      ? { problem: shrunk(wanted, present) }
      : used > warnAbove * etcdQuotaBytes(cluster, size) && { problem: exhausted(cluster, size, used) }),
  };
}

/** The largest existing or requested size; undefined before any exists. */
function presentSize(cluster: Pick<HostedCluster, 'spec'>, { claims, templateSize, quotaSize }: Volumes) {
  const made = [...claims.map(({ requested }) => requested), ...(templateSize === undefined ? [] : [templateSize])];
  // If all claims are lost, only the quota annotation shows how large they were. It must not raise the request above
  // the maximum, because other clients can write it.
  const limit = largest([...made, etcdMaxVolumeSize(cluster.spec.etcd)]);
  const known = quotaSize !== undefined && !isLess(limit, quotaSize) ? [...made, quotaSize] : made;
  return known.length > 0 ? largest(known) : undefined;
}

function wantedSize(cluster: Pick<HostedCluster, 'spec'>, { usedBytes = 0 }: Volumes, present: string | undefined) {
  const { etcd } = cluster.spec;
  const initial = etcdVolumeSize(cluster);
  if (!etcd.autoGrow) return initial;
  const maximum = etcdMaxVolumeSize(etcd);
  const size = smallest([largest([present ?? initial, forUsersQuota(cluster)]), maximum]);
  const quota = etcdQuotaBytes(cluster, size);
  if (usedBytes <= growAbove * quota) return size;
  const doubled = smallest([formatBytes(2 * quantityValue(size)), maximum]);
  // A volume that is larger than etcd can use has no benefit.
  return etcdQuotaBytes(cluster, doubled) > quota ? doubled : size;
}

/** Size for a quota that the user has set. */
function forUsersQuota({ spec: { etcd } }: Pick<HostedCluster, 'spec'>): string {
  const quota = Number(etcd.args?.['quota-backend-bytes'] ?? 0);
  return formatBytes(quota > 0 ? 2 * quota : 0);
}

/** A claim that was recreated from the template does not reduce the quota, because it grows within moments. */
function quotaSize({ claims, quotaSize: configured }: Volumes, size: string): string {
  const capacities = claims.map(({ capacity = '0' }) => capacity);
  if (capacities.length > 0 && capacities.every((capacity) => !isLess(capacity, size))) return size;
  if (configured !== undefined) return smallest([configured, size]);
  const known = capacities.filter((capacity) => quantityValue(capacity) > 0);
  return smallest([...known, size]);
}

function shrunk(wanted: string, present: string): VolumeProblem {
  return {
    reason: 'VolumeSizeChanged',
    message: `etcd.volumeSize is ${wanted}, but the volumes have ${present} and cannot shrink: set it to at least ${present}`,
  };
}

function exhausted(cluster: Pick<HostedCluster, 'spec'>, size: string, usedBytes: number): VolumeProblem {
  const { autoGrow } = cluster.spec.etcd;
  const quota = etcdQuotaBytes(cluster, size);
  const field = autoGrow ? 'etcd.maxVolumeSize' : 'etcd.volumeSize';
  const remedy = quota < etcdQuotaBytes(cluster, '1Pi') ? `raise ${field}, or delete objects` : 'delete objects';
  return {
    reason: 'VolumeSizeExhausted',
    message: `etcd uses ${inMebibytes(usedBytes)} of the ${inMebibytes(quota)} that volumes of ${size} allow, and the volumes do not grow further: ${remedy}`,
  };
}

function inMebibytes(bytes: number): string {
  return `${Math.round(bytes / 1024 ** 2)} MiB`;
}

function isLess(one: string, other: string): boolean {
  return quantityValue(one) < quantityValue(other);
}

function largest(sizes: readonly string[]): string {
  return sizes.reduce((one, other) => (isLess(one, other) ? other : one));
}

function smallest(sizes: readonly string[]): string {
  return sizes.reduce((one, other) => (isLess(other, one) ? other : one));
}

/** Bytes as a quantity with the largest unit that divides them, such as `8Gi`. */
export function formatBytes(bytes: number): string {
  const units = ['Ti', 'Gi', 'Mi', 'Ki'];
  const power = units.findIndex((_, index) => bytes > 0 && bytes % 1024 ** (units.length - index) === 0);
  return power < 0 ? String(bytes) : `${bytes / 1024 ** (units.length - power)}${units[power]}`;
}

/**
 * What the largest database occupies of its volume, for users: rounded up to a sixteenth of the volume, and lowered only
 * by more than that, so that the status does not change with every object and every defragmentation.
 */
export function volumeUsage(fileBytes: number, size: string, previous: string | undefined): string {
  const sixteenth = Math.max(1, Math.ceil(quantityValue(size) / 16));
  const reported = previous === undefined ? 0 : quantityValue(previous);
  if (previous !== undefined && fileBytes <= reported && fileBytes > reported - 2 * sixteenth) return previous;
  return formatBytes(Math.ceil(fileBytes / sixteenth) * sixteenth);
}
