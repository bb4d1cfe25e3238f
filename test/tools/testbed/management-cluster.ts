import { writeFile } from 'node:fs/promises';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { clientOf } from './access.ts';
import { startCloud, untilCloudLooksAfter } from './background.ts';
import { applyProvider, untilWebhooksAnswer } from './cluster-api.ts';
import { writeCredentials } from './credentials.ts';
import { completionMark } from './health.ts';
import { managementNumber, type Instance } from './instance.ts';
import { startManagement, untilDnsAnswers } from './management.ts';
import { makeMachine } from './node-machines.ts';
import type { Platform } from './platform.ts';
import { step, type Report } from './progress.ts';

/**
 * Creates an empty management cluster, with its own keys, on an instance that has its bridge and its images: one node
 * with DNS, storage, load balancers and Cluster API of this platform, whose rendered components are given.
 */
export async function makeManagementCluster(
  instance: Instance,
  { core, equip }: Platform,
  components: readonly KubeObject[],
  report: Report,
): Promise<void> {
  const [machine] = await step(report, 'machine m with containerd, certificates', () =>
    Promise.all([makeMachine(instance, 'm', managementNumber), writeCredentials(instance)]),
  );

  await equip?.(machine);
  const client = await clientOf(instance);
  try {
    await startManagement(machine, client, report);
    await startCloud(instance);
    await Promise.all([
      step(report, 'DNS', () => untilDnsAnswers(instance)),
      step(report, 'storage and load balancers', () => untilCloudLooksAfter(instance)),
      step(report, 'Cluster API', async () => {
        await applyProvider(instance, client, core, components);
        await untilWebhooksAnswer(client);
      }),
    ]);
  } finally {
    await client.connection.close();
  }
  await writeFile(completionMark(instance), '');
}
