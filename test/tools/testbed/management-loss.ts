import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cloudLog, stopCloud } from './background.ts';
import { findBinaries } from './binaries.ts';
import { providerComponents } from './components.ts';
import { completionMark } from './health.ts';
import { kubeconfigPath, type Instance } from './instance.ts';
import { withLock } from './lock.ts';
import { powerOff } from './machine-power.ts';
import { makeManagementCluster } from './management-cluster.ts';
import { newestPlatform } from './platform.ts';
import { step, type Report } from './progress.ts';
import { locked } from './take-down.ts';

/**
 * Destroys the management cluster, as a fire in a data centre would: its etcd, its keys, its pods and their
 * volumes. Worker machines, the network between machines and the object store stay. Throws with what is left of it.
 */
export async function loseManagement(instance: Instance, report: Report): Promise<void> {
  await locked(instance, report, () =>
    step(report, `lost the management cluster of testbed ${instance.name}`, () => lose(instance)),
  );
}

/**
 * Creates a new, empty management cluster in place of one that was lost: with other keys, at the same addresses, as
 * if DNS and routes now pointed to it. It has no data about hosted clusters and their workers.
 */
export async function replaceManagement(instance: Instance, report: Report): Promise<void> {
  await locked(instance, report, async () => {
    const binaries = await findBinaries(instance.cache, process.env['HCP_TESTBED_BIN'], report);
    const onWait = (holder: number): void => report(`waiting for process ${holder}, which fills ${instance.cache}`);
    const components = await withLock(join(instance.cache, 'lock'), onWait, () =>
      providerComponents(instance.cache, newestPlatform.core, binaries['kubectl'] ?? 'kubectl', report),
    );
    await makeManagementCluster(instance, newestPlatform, components, report);
  });
}

async function lose(instance: Instance): Promise<void> {
  // first of all: the instance is not complete any more, whatever happens now
  await rm(completionMark(instance), { force: true });
  await stopCloud(instance);
  const left = await powerOff(instance, 'm');
  // kubeconfigs of hosted clusters point to addresses of Services, which are gone. The log would report that the next cloud
  // works.
  const lost = [join(instance.directory, 'management'), join(instance.directory, 'hosted')];
  for (const path of [...lost, kubeconfigPath(instance), cloudLog(instance)]) {
    await rm(path, { recursive: true, force: true });
  }
  if (left.length > 0) throw new Error(`of the lost management cluster there is left:\n${left.join('\n')}`);
}
