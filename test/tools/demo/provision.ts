import { join } from 'node:path';
import { clientOf } from '../testbed/access.ts';
import { type ClusterName, openHostedApi } from '../testbed/hosted-api.ts';
import type { Instance } from '../testbed/instance.ts';
import { kubectl } from '../testbed/kubectl.ts';
import { repository } from '../testbed/operator-bundle.ts';
import type { Report } from '../testbed/progress.ts';
import { followUntilReady } from './follow.ts';

/** The Cluster in test/tools/demo/cluster.yaml. */
export const demoCluster: ClusterName = { namespace: 'demo', name: 'demo' };

/**
 * Creates the control plane; returns the path of a kubeconfig for it, by which this host reaches it without resolving the names of
 * the Gateway.
 */
export async function provision(instance: Instance, report: Report): Promise<string> {
  const client = await clientOf(instance);
  try {
    const start = performance.now();
    await kubectl(instance, ['apply', '--server-side', '--filename', join(repository, 'test/tools/demo/cluster.yaml')]);
    await followUntilReady(client, demoCluster, start, report);
    report(`the control plane is ready, ${((performance.now() - start) / 1000).toFixed(1)} s after kubectl apply`);
    const api = await openHostedApi(instance, client, demoCluster);
    await api.client.connection.close();
    return api.kubeconfig;
  } finally {
    await client.connection.close();
  }
}
