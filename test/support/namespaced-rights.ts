import { readFile } from 'node:fs/promises';
import { ClusterRole, ClusterRoleBinding } from '../../constructs/api/resources.ts';
import { providerNames, sharedRoleOf } from '../../constructs/cluster/provider-names.ts';
import { renderProvider } from '../../constructs/provider/chart.ts';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import { type Connection, connectionFor, loadKubeConfig } from '../../reconciler/kube/config.ts';
import { applyObjects } from '../testbed/apply-objects.ts';

const kinds = ['ServiceAccount', 'Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding'];

/**
 * Grants what the installation for this namespace grants to its operator, which runs in the same namespace. Returns a
 * connection with these rights and no others.
 */
export async function namespacedRights(client: KubeClient, kubeconfig: string, namespace: string): Promise<Connection> {
  const shared: readonly string[] = [
    providerNames.clusterApiRole,
    providerNames.bootstrapRole,
    providerNames.backupIdentityRole,
    providerNames.kubeconfigRole,
    providerNames.kubeconfigRequestRole,
    providerNames.metricsReaderRole,
  ];
  const objects = renderProvider({ namespace, watchNamespace: namespace });
  await applyObjects(
    client,
    objects.filter(({ kind, metadata }) => kinds.includes(kind) && !shared.includes(metadata.name)),
  );
  const token = await client.serviceAccountToken({ namespace, name: providerNames.serviceAccount });
  const cluster = loadKubeConfig(kubeconfig).getCurrentCluster();
  if (!cluster) throw new Error(`${kubeconfig} names no cluster`);
  const ca = cluster.caData ? Buffer.from(cluster.caData, 'base64') : await readFile(cluster.caFile ?? '');
  return connectionFor({ server: cluster.server, ca, token });
}

/** Removes what does not end with the namespace. */
export async function endNamespacedRights(client: KubeClient, namespace: string): Promise<void> {
  const name = sharedRoleOf(namespace);
  await Promise.all([ClusterRole, ClusterRoleBinding].map((resource) => client.delete(resource, { name })));
}
