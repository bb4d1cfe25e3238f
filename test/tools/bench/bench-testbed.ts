import { Namespace } from '../../../constructs/api/resources.ts';
import type { KubeClient } from '../../../reconciler/kube/client.ts';
import { installProvider, isProviderInstalled, removeProvider } from '../../support/provider.ts';
import { Workbench } from '../../support/workbench.ts';
import { clientOf } from '../testbed/access.ts';
import { bringUp } from '../testbed/bring-up.ts';
import { checkHealth } from '../testbed/health.ts';
import { type Instance, instanceFrom, testbedLog } from '../testbed/instance.ts';
import { withLock } from '../testbed/lock.ts';
import { type Report, reportTo, until } from '../testbed/progress.ts';
import { takeDown } from '../testbed/take-down.ts';
import { endWorker, workerNames } from '../testbed/workers.ts';
import type { Extent } from './extent.ts';
import { floorNamespace } from './floor.ts';
import { countRequests, forgetRequests } from './requests.ts';

/** Namespace of the control planes that the operator creates. */
export const benchNamespace = 'bench';

const namespaces = [benchNamespace, floorNamespace];

/** A management cluster with the operator as a pod, in which nothing else happens. */
export interface BenchTestbed {
  readonly instance: Instance;
  /** An administrator of the management cluster. */
  readonly client: KubeClient;
  readonly extent: Extent;
  readonly report: Report;
}

/**
 * Runs a measurement in a testbed. One that `$HCP_TESTBED` names and that is up stays up, without anything of the
 * bench in it; another is brought up for this alone, and taken down whatever happens. The leftovers of a killed run
 * are removed first.
 */
export async function inBenchTestbed<T>(extent: Extent, measure: (testbed: BenchTestbed) => Promise<T>): Promise<T> {
  const named = process.env['HCP_TESTBED'];
  const instance = instanceFrom(process.env, named ?? 'bench');
  const report = reportTo(testbedLog(instance), process.stderr);
  const work = async (testbed: Omit<BenchTestbed, 'client'>): Promise<T> => {
    const isOurs = named === undefined || (await checkHealth(instance)).state !== 'up';
    if (!isOurs) return inTestbed(testbed, measure);
    await takeDown(instance, () => {});
    try {
      await bringUp(instance, report);
      return await inTestbed(testbed, measure);
    } finally {
      for (const line of await takeDown(instance, report)) report(`left behind: ${line}`);
    }
  };
  const onWait = (holder: number): void => report(`waiting for process ${holder}, which measures in ${instance.name}`);
  return withLock(`${instance.directory}.bench`, onWait, () => work({ instance, extent, report }));
}

/** Runs a measurement in a running testbed, and restores its state. */
async function inTestbed<T>(
  testbed: Omit<BenchTestbed, 'client'>,
  measure: (testbed: BenchTestbed) => Promise<T>,
): Promise<T> {
  const { instance, report } = testbed;
  const hadProvider = await isProviderInstalled(instance);
  await clear(instance);
  const client = await clientOf(instance);
  try {
    await installProvider(instance, report);
    await countRequests(instance);
    return await measure({ ...testbed, client });
  } finally {
    await client.connection.close();
    await clearAway(instance);
    await forgetRequests(instance);
    if (!hadProvider) await removeProvider(instance);
  }
}

/** Removes everything that a part or a killed run has left, and ends when it is gone. */
export async function clear(instance: Instance): Promise<void> {
  await clearAway(instance);
  await untilClear(instance);
}

/** Removes every machine and namespace of the bench, whether or not an operator runs. Pods may take a moment to end. */
async function clearAway(instance: Instance): Promise<void> {
  await Promise.all(namespaces.map((namespace) => removeNamespace(instance, namespace)));
  for (const name of await workerNames(instance, { namespace: benchNamespace })) await endWorker(instance, name);
}

async function removeNamespace(instance: Instance, name: string): Promise<void> {
  const client = await clientOf(instance);
  if (await client.find(Namespace, { name })) await new Workbench(name, client).close();
  else await client.connection.close();
}

async function untilClear(instance: Instance): Promise<void> {
  const client = await clientOf(instance);
  for (const name of namespaces) {
    await until({ what: `namespace ${name} gone`, timeoutMs: 180_000, intervalMs: 200 }, async () => {
      return !(await client.find(Namespace, { name }));
    });
  }
  await client.connection.close();
}
