import { single, Workbench } from '../support/workbench.ts';
import { kubeconfigPath } from '../testbed/instance.ts';
import { addWorker, removeWorker, type Worker } from '../testbed/workers.ts';
import { benchNamespace, type BenchTestbed } from './bench-testbed.ts';

/**
 * Lets workers join a hosted cluster of one API server, one after the other; gives how long each took until it was
 * Ready. The cluster is there before and the token signed, as they are when Cluster API makes a machine.
 */
export async function measureJoins({ instance, extent }: BenchTestbed): Promise<Worker['readyAfterMs'][]> {
  const cluster = { namespace: benchNamespace, name: 'joined' };
  const bench = await Workbench.open(kubeconfigPath(instance), benchNamespace);
  try {
    await bench.create(cluster.name, single);
    await bench.untilReady(cluster.name);
    const times: Worker['readyAfterMs'][] = [];
    for (let run = 1; run <= extent.runs; run += 1) {
      const { name, readyAfterMs } = await addWorker(instance, cluster);
      times.push(readyAfterMs);
      await removeWorker(instance, name);
    }
    await bench.delete(cluster.name, 120_000);
    return times;
  } finally {
    await bench.client.connection.close();
  }
}
