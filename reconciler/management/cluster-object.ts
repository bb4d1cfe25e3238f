import { z } from 'zod';
import { clusterOwner } from '../../constructs/api/group.ts';
import { ClusterNetworkSpec } from '../../constructs/cluster/cluster.ts';
import type { InfrastructureReference } from '../exposure/infrastructure/endpoint.ts';
import type { ObjectMeta } from '../kube/object.ts';

/** A Cluster of Cluster API, as far as it is read here. */
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
 * The name of the Cluster that owns this object. The `controller` flag and the version are ignored: core sets the flag
 * for managed topologies only, and the version is its own. A topology's temporary shim Secret is no owner.
 */
export function owningCluster(metadata: Pick<ObjectMeta, 'ownerReferences'>): string | undefined {
  return metadata.ownerReferences?.find(
    ({ apiVersion, kind }) => kind === clusterOwner.kind && apiVersion.split('/')[0] === clusterOwner.group,
  )?.name;
}

/** Where the infrastructure of a Cluster is, if it has any and says so in full. */
export function infrastructureOf({ spec }: ClusterObject): InfrastructureReference | undefined {
  const { apiGroup, kind, name } = spec?.infrastructureRef ?? {};
  return apiGroup && kind && name ? { apiGroup, kind, name } : undefined;
}
