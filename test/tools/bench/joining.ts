import { Workbench } from '../../support/workbench.ts';
import { kubeconfigPath } from '../testbed/instance.ts';
import { addWorker, removeWorker, type Worker } from '../testbed/workers.ts';
import { benchNamespace, type BenchTestbed } from './bench-testbed.ts';
import { plainCluster, untilPlainCluster } from './plain-cluster.ts';

/**
 * Joins workers to a hosted cluster of one API server, one after the other; returns the time until each was
 * Ready. The cluster exists and the token is signed before, as when Cluster API creates a machine.
 */
export async function measureJoins({ instance, extent }: BenchTestbed): Promise<Worker['readyAfterMs'][]> {
  const cluster = { namespace: benchNamespace, name: plainCluster };
  const bench = await Workbench.open(kubeconfigPath(instance), benchNamespace);
  try {
    await untilPlainCluster(bench);
    const times: Worker['readyAfterMs'][] = [];
    for (let run = 1; run <= extent.runs; run += 1) {
      const { name, readyAfterMs } = await addWorker(instance, cluster);
      times.push(readyAfterMs);
      await removeWorker(instance, name);
    }
    return times;
  } finally {
    await bench.client.connection.close();
  }
}
