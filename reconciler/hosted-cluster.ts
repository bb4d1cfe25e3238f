import { type HostedCluster, networkOf } from '../constructs/cluster/cluster.ts';
import { keepingProxies } from '../constructs/cluster/in-cluster-access.ts';
import type { Admission } from './admission.ts';

/** The cluster that an admitted HostedControlPlane stands for, with what its status has fixed. */
export function hostedClusterOf({
  hostedControlPlane,
  clusterObject,
}: Pick<Extract<Admission, { kind: 'admitted' }>, 'hostedControlPlane' | 'clusterObject'>): HostedCluster {
  return {
    name: clusterObject.metadata.name,
    namespace: hostedControlPlane.metadata.namespace,
    network: networkOf(clusterObject.spec?.clusterNetwork),
    spec: keepingProxies(hostedControlPlane.spec, hostedControlPlane.status?.inClusterAccess),
  };
}
