import { HostedControlPlane } from '../../../constructs/api/resources.ts';
import { single, type Workbench } from '../../support/workbench.ts';

/** Name of a hosted cluster with nothing special, which parts share that only add workers to it. */
export const plainCluster = 'plain';

/** Creates it, unless another part has, and ends when it is ready. */
export async function untilPlainCluster(bench: Workbench): Promise<void> {
  const name = { namespace: bench.namespace, name: `${plainCluster}-cp` };
  if (!(await bench.client.find(HostedControlPlane, name))) {
    await bench.create(plainCluster, { ...single, inClusterAccess: 'Policy' });
  }
  await bench.untilReady(plainCluster);
}
