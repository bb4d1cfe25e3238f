import { clusterNetworkAnnotation } from '../../constructs/api/group.ts';
import type { NetworkStatus } from '../../constructs/api/network-status.ts';
import { Secret } from '../../constructs/api/resources.ts';
import { networkOf } from '../../constructs/cluster/cluster.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import { degraded, done, type Outcome } from '../engine/outcome.ts';
import { networkDifferences, recordedNetwork } from '../clusters/management/network-in-use.ts';
import { phase, type Scope } from './scope.ts';

/**
 * Records the networks and the domain once workers can join, in the status, and beside the service account keys, which stay
 * with the data of etcd when the status is lost. A Cluster that differs later changes nothing.
 */
export const clusterNetwork = phase({
  condition: 'ClusterNetworkUnchanged',
  needs: [],
  async run(scope): Promise<Outcome> {
    const { cluster, clusterObject, hostedControlPlane, reader } = scope;
    const { status } = hostedControlPlane;
    const isRecorded = recordedNetwork(status, reader, cluster.name) !== undefined;
    if (!isRecorded && !status?.initialization?.controlPlaneInitialized) return done();
    const network = {
      serviceDomain: cluster.network.serviceDomain,
      services: [...cluster.network.services],
      pods: [...cluster.network.pods],
    };
    await record(scope, network);
    const report = { network };
    const differences = networkDifferences(networkOf(clusterObject.spec?.clusterNetwork), cluster.network);
    if (differences.length === 0) return done({}, undefined, { report });
    const message = `spec.clusterNetwork of Cluster ${cluster.name} has changed: ${differences.join('; ')}; the control plane keeps what it was initialized with, because nodes, Services and pods have it, and no network, IP family or domain can be replaced or added later: set the Cluster back, or create another Cluster for other networks`;
    return degraded('ClusterNetworkChanged', message, { report });
  },
});

async function record({ cluster, reader, writer }: Scope, network: NetworkStatus): Promise<void> {
  const keys = reader.get(Secret, namesOf(cluster.name).secrets.serviceAccount);
  const text = JSON.stringify(network);
  if (!keys || keys.metadata.annotations?.[clusterNetworkAnnotation] === text) return;
  await writer.setFields(Secret, keys, { annotations: { [clusterNetworkAnnotation]: text } }, 'cluster-network');
}
