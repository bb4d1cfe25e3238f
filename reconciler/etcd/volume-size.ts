import type { ConditionReason } from '../../constructs/api/conditions.ts';
import { quantityValue } from '../../constructs/api/quantity.ts';
import type { HostedCluster } from '../../constructs/cluster/cluster.ts';
import { etcdMaxVolumeSize, etcdQuotaBytes, etcdVolumeSize } from '../../constructs/control-plane/etcd/config.ts';

/** What there is of the volumes of etcd and is stored on them, as the world tells it: a lost status changes nothing. */
export interface Volumes {
  /** The volume claims of all members, but for those that are being deleted. */
  readonly claims: readonly VolumeClaim[];
  /** Size in the StatefulSet's claim template; undefined when there is no StatefulSet. */
  readonly templateSize: string | undefined;
  /** Size that the quota of the members was made for last; undefined when nobody knows. */
  readonly quotaSize: string | undefined;
  /** What is in use of the largest database of a member, without what is free inside the file; undefined when none answers. */
  readonly usedBytes: number | undefined;
}

export interface VolumeClaim {
  readonly requested: string;
  /** What the volume really has; undefined until there is one. */
  readonly capacity: string | undefined;
}

/** How the volumes of etcd should be. */
export interface VolumePlan {
  /** What every claim should request. */
  readonly size: string;
  /** Size to make the members' quota for: every volume has it. */
  readonly quotaSize: string;
  /** Size in the StatefulSet's claim template, which Kubernetes lets nobody change. */
  readonly templateSize: string;
  /** What a person has to change. */
  readonly problem?: VolumeProblem;
}

export interface VolumeProblem {
  readonly reason: Extract<ConditionReason, 'VolumeSizeChanged' | 'VolumeSizeExhausted' | 'VolumeNotExpandable'>;
  readonly message: string;
}

/**
 * Share of the quota in use above which volumes grow: early enough for a provisioner that takes its time, and above what
 * is left in use when a defragmentation is worth it.
 */
export const growAbove = 0.6;

/** Share of the quota in use above which a person is told, where volumes cannot grow by themselves. */
export const warnAbove = 0.8;

/**
 * The size of etcd's volumes. They only ever grow: by doubling before the database reaches its quota, up to the maximum,
 * or to what the user says. The quota follows when all of them have grown.
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

/** The largest that any of them has or is to have; undefined before there are any. */
function presentSize(cluster: Pick<HostedCluster, 'spec'>, { claims, templateSize, quotaSize }: Volumes) {
  const made = [...claims.map(({ requested }) => requested), ...(templateSize === undefined ? [] : [templateSize])];
  // With all claims lost only the quota tells how large they were; whoever wrote it may not have us ask for more.
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
  // Beyond what etcd can use of it, a larger volume helps nobody.
  return etcdQuotaBytes(cluster, doubled) > quota ? doubled : size;
}

/** Room for a quota that the user has set. */
function forUsersQuota({ spec: { etcd } }: Pick<HostedCluster, 'spec'>): string {
  const quota = Number(etcd.args?.['quota-backend-bytes'] ?? 0);
  return formatBytes(quota > 0 ? 2 * quota : 0);
}

/** A claim that was made anew, from the template, does not take the quota back: it grows within moments. */
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
    message: `etcd uses ${inMebibytes(usedBytes)} of the ${inMebibytes(quota)} that volumes of ${size} allow, and they do not grow further: ${remedy}`,
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
 * What is in use of the fullest volume, for people: rounded up to a sixteenth of the volume, and lowered only by more
 * than that, so that it is not written for every object and every compaction.
 */
export function volumeUsage(usedBytes: number, size: string, previous: string | undefined): string {
  const sixteenth = Math.max(1, Math.ceil(quantityValue(size) / 16));
  const told = previous === undefined ? 0 : quantityValue(previous);
  if (previous !== undefined && usedBytes <= told && usedBytes > told - 2 * sixteenth) return previous;
  return formatBytes(Math.ceil(usedBytes / sixteenth) * sixteenth);
}
