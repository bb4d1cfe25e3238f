import type { KubeClient } from '../../reconciler/kube/client.ts';
import { installProvider } from '../support/provider.ts';
import { Workbench } from '../support/workbench.ts';
import { bringUp } from '../testbed/bring-up.ts';
import { type Instance, instanceFrom, kubeconfigPath, testbedLog } from '../testbed/instance.ts';
import { reportTo } from '../testbed/progress.ts';
import { clearAway } from './product.ts';
import { countRequests } from './requests.ts';

/** A management cluster with the operator as a pod, in which nothing else happens. */
export interface BenchTestbed {
  readonly instance: Instance;
  /** An administrator of the management cluster. */
  readonly client: KubeClient;
  readonly runs: number;
  readonly report: (line: string) => void;
}

/** Brings it up, lets something be measured in it, and clears that away. The testbed stays for the next time. */
export async function inBenchTestbed<T>(runs: number, measure: (testbed: BenchTestbed) => Promise<T>): Promise<T> {
  const instance = instanceFrom(process.env, process.env['HCP_TESTBED'] ?? 'bench');
  const report = reportTo(testbedLog(instance), process.stderr);
  await bringUp(instance, report);
  await installProvider(instance, report);
  await countRequests(instance);
  const { client } = await Workbench.open(kubeconfigPath(instance), 'bench');
  try {
    await clearAway(client, 'bench');
    return await measure({ instance, client, runs, report });
  } finally {
    await clearAway(client, 'bench');
    await client.connection.close();
  }
}
