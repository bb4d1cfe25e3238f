import { z } from 'zod';
import { clusterOwner } from '../../../constructs/api/group.ts';
import { ClusterNetworkSpec } from '../../../constructs/cluster/cluster.ts';
import type { InfrastructureReference } from '../exposure/infrastructure-endpoint.ts';
import type { ObjectMeta } from '../../kube/object.ts';

/** The fields of a Cluster of Cluster API that the operator reads. */
export const ClusterObject = z.looseObject({
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.string(),
    deletionTimestamp: z.string().optional(),
  }),
  spec: z
    .looseObject({
      paused: z.boolean().optional(),
      clusterNetwork: ClusterNetworkSpec.optional(),
      controlPlaneEndpoint: z.looseObject({ host: z.string().optional(), port: z.number().optional() }).optional(),
      infrastructureRef: z
        .looseObject({ apiGroup: z.string().optional(), kind: z.string().optional(), name: z.string().optional() })
        .optional(),
      controlPlaneRef: z.looseObject({ kind: z.string().optional(), name: z.string().optional() }).optional(),
    })
    .optional(),
});
export type ClusterObject = z.output<typeof ClusterObject>;

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

/** The complete infrastructure reference of a Cluster, if it has one. */
export function infrastructureOf({ spec }: ClusterObject): InfrastructureReference | undefined {
  const { apiGroup, kind, name } = spec?.infrastructureRef ?? {};
  return apiGroup && kind && name ? { apiGroup, kind, name } : undefined;
}
