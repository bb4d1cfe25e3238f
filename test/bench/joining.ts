import { single, Workbench } from '../support/workbench.ts';
import { kubeconfigPath, type Instance } from '../testbed/instance.ts';
import { addWorker, removeWorker, type Worker, workerNames } from '../testbed/workers.ts';

/**
 * Lets workers join a hosted cluster of one API server, one after the other; gives how long each took until it was
 * Ready. The cluster is there before and the token signed, as they are when Cluster API makes a machine.
 */
export async function measureJoins(
  instance: Instance,
  namespace: string,
  runs: number,
): Promise<Worker['readyAfterMs'][]> {
  const cluster = { namespace, name: 'joined' };
  const bench = await Workbench.open(kubeconfigPath(instance), namespace);
  try {
    // what an aborted run has left
    for (const name of await workerNames(instance, cluster)) await removeWorker(instance, name);
    await bench.create(cluster.name, single);
    await bench.untilReady(cluster.name);
    const times: Worker['readyAfterMs'][] = [];
    for (let run = 1; run <= runs; run += 1) {
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
