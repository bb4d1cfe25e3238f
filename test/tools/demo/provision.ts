import { join } from 'node:path';
import { definitionOf, letClusterApiUse, TestbedCluster, testbedKinds } from '../../infrastructure-provider/kinds.ts';
import { clientOf } from '../testbed/access.ts';
import { applyObjects } from '../testbed/apply-objects.ts';
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
    await applyObjects(client, testbedKinds.map(definitionOf));
    await letClusterApiUse(client, 'testbed-infrastructure');
    const start = performance.now();
    await kubectl(instance, ['apply', '--server-side', '--filename', join(repository, 'test/tools/demo/cluster.yaml')]);
    // the infrastructure of a cluster whose workers are added by hand is nothing but its object
    const status = { initialization: { provisioned: true } };
    await client.mergePatch(TestbedCluster, demoCluster, { status }, { fieldManager: 'demo', subresource: 'status' });
    await followUntilReady(client, demoCluster, start, report);
    report(`the control plane is ready, ${((performance.now() - start) / 1000).toFixed(1)} s after kubectl apply`);
    const api = await openHostedApi(instance, client, demoCluster);
    await api.client.connection.close();
    return api.kubeconfig;
  } finally {
    await client.connection.close();
  }
}
