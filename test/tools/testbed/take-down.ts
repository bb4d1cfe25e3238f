import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { stopCloud } from './background.ts';
import { restoreInotifyLimit } from './inotify-limit.ts';
import type { Instance } from './instance.ts';
import { leftovers, savedBaseline, strayProcesses } from './leftovers.ts';
import { withLock } from './lock.ts';
import { powerOff } from './machine-power.ts';
import { machineNames } from './machine.ts';
import { removeBridge } from './network.ts';
import { stopObjectStore } from './object-store.ts';
import { sendSignal } from './process-record.ts';
import { step, type Report } from './progress.ts';

/** Takes a testbed down in any state. Returns what it left on the host, which is nothing unless there is a fault. */
export async function takeDown(instance: Instance, report: Report): Promise<string[]> {
  return locked(instance, report, async () => {
    const before = await savedBaseline(instance);
    await step(report, `took down testbed ${instance.name}`, () => dismantle(instance));
    return leftovers(instance, before);
  });
}

/** Removes packed images and rendered objects, but not the binaries, which take a quarter of an hour to build. */
export async function purgeCache(instance: Instance): Promise<void> {
  for (const name of ['images', 'image-stores', 'components', 'packages', 'digests']) {
    await rm(join(instance.cache, name), { recursive: true, force: true });
  }
}

/** Ends every process of an instance and removes every trace of it. Nothing else may work on it meanwhile: see {@link locked}. */
export async function dismantle(instance: Instance): Promise<void> {
  await stopCloud(instance);
  await stopObjectStore(instance);
  const names = await machineNames(instance);
  await Promise.all(names.map((name) => powerOff(instance, name)));
  // a process whose parent was killed before it recorded the pid
  for (const { pid } of await strayProcesses(instance)) sendSignal(pid, 'SIGKILL');
  await removeBridge(instance);
  await restoreInotifyLimit(instance);
  await rm(instance.directory, { recursive: true, force: true });
}

/** Runs work that changes an instance: one process at a time. */
export function locked<T>(instance: Instance, report: Report, work: () => Promise<T>): Promise<T> {
  const onWait = (holder: number): void =>
    report(`waiting for process ${holder}, which works on testbed ${instance.name}`);
  return withLock(`${instance.directory}.lock`, onWait, work);
}
