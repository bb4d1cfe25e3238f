import { namesOf } from '../../../constructs/cluster/names.ts';
import type { Reach } from '../../../reconciler/reconcile/reconciler-options.ts';
import { MemoryClient } from '../memory-cluster/client.ts';
import { certificateUser } from '../memory-cluster/users.ts';
import { probesOf } from '../trust-probes.ts';
import type { Life } from './life.ts';
import type { MemoryCluster, Place } from './memory-cluster.ts';

/** How a process of the operator reaches the servers of a control plane and of its neighbours. */
export function reachOf(managementCluster: MemoryCluster, life: Life): Reach {
  const etcdOf = (of: { readonly name: string; readonly namespace: string }) =>
    (managementCluster.all.find(({ place }) => isAt(place, of)) ?? managementCluster).etcd;
  const probesAt = ({ serverName }: { readonly serverName: string }) => {
    const { objects, place } = servingAs(serverName, managementCluster.all) ?? managementCluster;
    return probesOf(objects, place.cluster);
  };
  return {
    hostedApi: ({ server, serverName, cert = '' }) => {
      const isThroughEndpoint = serverName === undefined;
      const { all } = managementCluster;
      const hosting = isThroughEndpoint
        ? all.find(({ place }) => new URL(server).hostname === place.address)
        : servingAs(serverName, all);
      const reached = hosting ?? managementCluster;
      const before = async (action: string): Promise<void> => {
        await life.whileAlive(`${action} in the hosted cluster`);
        reached.requireHostedApi(isThroughEndpoint);
      };
      const user = certificateUser(String(cert));
      const isAdministrator = user.groups.includes('system:masters');
      const { record } = managementCluster.usedInHosted;
      return new MemoryClient(reached.hosted, user, {
        before,
        after: (action) => life.after(`${action} in the hosted cluster`),
        ...(!isAdministrator && { onPermitted: record }),
      });
    },
    etcd: (cluster, management) => etcdOf(cluster).open(life.whileAlive)(cluster, management),
    etcdMembers: (cluster, ...rest) => etcdOf(cluster).openMembers(cluster, ...rest),
    trustProbes: {
      userOf: (server, ...rest) => probesAt(server).userOf(server, ...rest),
      isAdmitted: (server, ...rest) => probesAt(server).isAdmitted(server, ...rest),
      servedBy: (server, ...rest) => probesAt(server).servedBy(server, ...rest),
    },
    hasAgent: async (address) => !managementCluster.withoutAgent.has(address),
  };
}

function isAt(place: Place, { name, namespace }: { readonly name: string; readonly namespace: string }): boolean {
  return place.cluster === name && place.namespace === namespace;
}

/** The control plane one of whose servers has a certificate for this name. */
function servingAs(serverName: string, clusters: readonly MemoryCluster[]): MemoryCluster | undefined {
  const [service = '', second, third] = serverName.split('.');
  return clusters.find(({ place: { cluster, namespace } }) =>
    service === namesOf(cluster).apiService
      ? second === namespace
      : service.startsWith(`${cluster}-`) && third === namespace,
  );
}
