import type { KubeClient } from '../../../reconciler/kube/client.ts';
import { Namespace } from '../../../constructs/api/resources.ts';
import { endNamespace } from '../test-namespace.ts';
import { clientOf } from '../../tools/testbed/access.ts';
import type { Instance } from '../../tools/testbed/instance.ts';
import { endWorker, workerNames } from '../../tools/testbed/workers.ts';
import { type LentName, lentKinds } from './kinds.ts';
import { readRecord, removeRecord } from './lent-record.ts';

/** Ends a lent control plane with its workers, if there is one, without waiting for its namespace. */
export async function endLent(instance: Instance, client: KubeClient, name: LentName): Promise<void> {
  const { namespace } = lentKinds[name];
  await removeRecord(instance, name);
  const workers = await workerNames(instance, { namespace });
  const left = (await Promise.all(workers.map((worker) => endWorker(instance, worker)))).flat();
  if ((await client.find(Namespace, { name: namespace })) !== undefined) await endNamespace(client, namespace);
  if (left.length > 0) throw new Error(`workers of ${namespace} left on the host:\n${left.join('\n')}`);
}

/** Ends the control planes that files of a run have lent, where the testbed stays. */
export async function endAllLent(instance: Instance, run: number): Promise<void> {
  const names = Object.keys(lentKinds) as LentName[];
  const records = await Promise.all(names.map((name) => readRecord(instance, name)));
  const own = names.filter((_, index) => records[index]?.run.pid === run);
  if (own.length === 0) return;
  const client = await clientOf(instance);
  for (const name of own) await endLent(instance, client, name);
  await client.connection.close();
}
