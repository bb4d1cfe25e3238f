import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cloudLog, stopCloud } from './background.ts';
import { findBinaries } from './binaries.ts';
import { clusterApiCore, providerComponents } from './components.ts';
import { completionMark } from './health.ts';
import { kubeconfigPath, type Instance } from './instance.ts';
import { withLock } from './lock.ts';
import { powerOff } from './machine-power.ts';
import { makeManagementCluster } from './management-cluster.ts';
import { step, type Report } from './progress.ts';
import { locked } from './take-down.ts';

/**
 * Loses the management cluster for good, as a data centre that burns does: its etcd, its keys, its pods and their
 * volumes. Worker machines, the network between machines and the object store go on. Throws with what of it is left.
 */
export async function loseManagement(instance: Instance, report: Report): Promise<void> {
  await locked(instance, report, () =>
    step(report, `lost the management cluster of testbed ${instance.name}`, () => lose(instance)),
  );
}

/**
 * Makes a fresh, empty management cluster in the place of one that was lost: with other keys, at the same addresses, as
 * one that DNS and routes were pointed at would be. It knows nothing of hosted clusters and of their workers.
 */
export async function replaceManagement(instance: Instance, report: Report): Promise<void> {
  await locked(instance, report, async () => {
    const binaries = await findBinaries(instance.cache, process.env['HCP_TESTBED_BIN'], report);
    const onWait = (holder: number): void => report(`waiting for process ${holder}, which fills ${instance.cache}`);
    const components = await withLock(join(instance.cache, 'lock'), onWait, () =>
      providerComponents(instance.cache, clusterApiCore, binaries['kubectl'] ?? 'kubectl', report),
    );
    await makeManagementCluster(instance, components, report);
  });
}

async function lose(instance: Instance): Promise<void> {
  // first of all: what was begun is not complete, whatever happens now
  await rm(completionMark(instance), { force: true });
  await stopCloud(instance);
  const left = await powerOff(instance, 'm');
  // hosted: kubeconfigs that lead to addresses of Services, which are gone. The log would say that the next cloud works.
  const lost = [join(instance.directory, 'management'), join(instance.directory, 'hosted')];
  for (const path of [...lost, kubeconfigPath(instance), cloudLog(instance)]) {
    await rm(path, { recursive: true, force: true });
  }
  if (left.length > 0) throw new Error(`of the lost management cluster there is left:\n${left.join('\n')}`);
}
