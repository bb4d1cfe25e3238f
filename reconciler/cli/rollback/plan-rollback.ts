import { onlyWithAnnotation } from '../../../constructs/api/kubernetes-version.ts';
import { etcdVersion, minorOf, parseVersion } from '../../../constructs/cluster/versions.ts';
import type { StoredBackup } from '../../backup/cluster-backups.ts';
import type { Manifest } from '../../backup/manifest.ts';
import type { ControlPlane } from '../control-plane.ts';

/** A backup of the bucket, and what it contains. */
export interface DescribedBackup {
  readonly backup: StoredBackup;
  readonly manifest: Manifest;
}

/** The versions before and after a way back. */
export interface RollbackVersions {
  readonly from: string;
  readonly to: string;
  readonly etcdFrom: string | undefined;
  readonly etcdTo: string;
}

/**
 * The newest version of Kubernetes that API servers run.
 * @throws when a user can go back without a restore
 */
export function versionToLeave({ cluster, object: { spec, status } }: ControlPlane): string {
  // The oldest one is first.
  const newest = status?.versions?.at(-1)?.version;
  if (newest === undefined) throw new Error(`no API server of ${cluster} has run yet: set the version in the spec`);
  if (minorOf(spec.version) > minorOf(newest)) {
    throw new Error(
      `no API server of ${cluster} runs ${spec.version} yet: set the version back to ${newest}, and nothing is lost`,
    );
  }
  return newest;
}

/**
 * The newest backup of the minor before.
 * @param own backups, newest first
 * @throws when there is none
 */
export async function backupBefore(
  version: string,
  own: readonly StoredBackup[],
  manifestOf: (backup: StoredBackup) => Promise<Manifest | undefined>,
): Promise<DescribedBackup> {
  const minor = minorOf(version) - 1;
  for (const backup of own) {
    const manifest = await manifestOf(backup);
    const taken = manifest && parseVersion(manifest.kubernetesVersion)?.minor;
    if (manifest && taken === minor) return { backup, manifest };
    if (taken !== undefined && taken < minor) break;
  }
  throw new Error(
    `the bucket contains no backup of Kubernetes 1.${minor} of this control plane, and nothing else leads back to that minor: see hcp backups`,
  );
}

/**
 * The versions of a way back to a backup.
 * @param topologyVersion that of the Cluster's topology; undefined without one
 * @throws while the topology would set the version again
 */
export function rollbackVersions(
  { cluster, object: { spec, status } }: ControlPlane,
  from: string,
  { kubernetesVersion }: Pick<Manifest, 'kubernetesVersion'>,
  topologyVersion: string | undefined,
): RollbackVersions & { readonly problem: string | undefined } {
  const isLowered = topologyVersion !== undefined && minorOf(topologyVersion) === minorOf(kubernetesVersion);
  const to = isLowered ? topologyVersion : kubernetesVersion;
  const problem =
    topologyVersion === undefined || isLowered
      ? undefined
      : `nothing was changed, because the topology of Cluster ${cluster} would set ${topologyVersion} again: ${onlyWithAnnotation}; set it to ${to} and run this command again; until then the condition TopologyReconciled of the Cluster is False`;
  const etcdFrom = status?.etcd?.members?.find(({ version }) => version !== undefined)?.version;
  return { from, to, etcdFrom, etcdTo: etcdVersion({ spec: { ...spec, version: to } }), problem };
}
