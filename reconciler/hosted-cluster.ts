import { type HostedCluster, networkOf } from '../constructs/control-plane/cluster.ts';
import { keepingProxies } from '../constructs/control-plane/in-cluster-access.ts';
import type { Admission } from './gate.ts';

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
