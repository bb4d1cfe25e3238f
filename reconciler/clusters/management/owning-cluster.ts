import { clusterNameLabel, clusterOwner } from '../../../constructs/api/group.ts';
import type { KubeObject, ObjectMeta } from '../../kube/object.ts';

/**
 * The name of the Cluster that owns this object. It ignores the `controller` flag and the version: core sets the flag
 * for managed topologies only, and chooses the version. The temporary shim Secret of a topology does not count as
 * owner.
 */
export function owningCluster(metadata: Pick<ObjectMeta, 'ownerReferences'>): string | undefined {
  return metadata.ownerReferences?.find(
    ({ apiVersion, kind }) => kind === clusterOwner.kind && apiVersion.split('/')[0] === clusterOwner.group,
  )?.name;
}

/** The Cluster to which a control plane belongs, also before it is its owner; undefined if there is none yet. */
export function clusterOf({ metadata }: KubeObject): string | undefined {
  return owningCluster(metadata) ?? metadata.labels?.[clusterNameLabel];
}
