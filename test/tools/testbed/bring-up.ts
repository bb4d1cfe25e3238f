import { mkdir, readdir, statfs, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { findBinaries, type Binaries } from './binaries.ts';
import { providerComponents } from './components.ts';
import { checkHealth } from './health.ts';
import { installHostPackages } from './host-packages.ts';
import { imageStore } from './image-store.ts';
import { packImages, pauseImage } from './images.ts';
import { raiseInotifyLimit } from './inotify-limit.ts';
import { binDirectory, lanCidr, type Instance } from './instance.ts';
import { saveBaseline } from './leftovers.ts';
import { withLock } from './lock.ts';
import { makeManagementCluster } from './management-cluster.ts';
import { layBridge } from './network.ts';
import { keepImageStore } from './node-machines.ts';
import { newestPlatform, type Platform } from './platform.ts';
import { seconds, step, type Report } from './progress.ts';
import { run } from './run.ts';
import { dismantle, locked } from './take-down.ts';
import { relaxTimers } from './timer-slack.ts';

/**
 * Brings a management cluster up: one node with DNS, storage, load balancers and Cluster API. A working one is not
 * changed; the remains of a broken one are taken down first. Timers of this process and of what it starts may then fire late.
 * Throws with the log to read.
 * @param platform its Kubernetes and Cluster API, by default the newest
 */
export async function bringUp(instance: Instance, report: Report, platform = newestPlatform): Promise<void> {
  relaxTimers();
  await locked(instance, report, async () => {
    const start = performance.now();
    const health = await checkHealth(instance);
    if (health.state === 'up') return report(`${seconds(start)}  testbed ${instance.name} is up already`);
    if (health.state === 'broken') {
      await step(report, `took down testbed ${instance.name}, which is broken: ${health.reason}`, () =>
        dismantle(instance),
      );
    }
    await assemble(instance, report, platform);
    report(`${seconds(start)}  testbed ${instance.name} is up`);
  });
}

async function assemble(instance: Instance, report: Report, platform: Platform): Promise<void> {
  await installHostPackages(report);
  await refuseUnrealFileSystem(instance);
  await refuseTakenAddresses(instance);
  const binaries = await findBinaries(instance.cache, process.env['HCP_TESTBED_BIN'], report);
  await linkBinaries(instance, binaries);
  await saveBaseline(instance);
  await raiseInotifyLimit(instance);
  await layBridge(instance);
  const components = await prepareCache(instance, binaries, report, platform);
  await makeManagementCluster(instance, platform, components, report);
}

/** Packs, imports and renders what the cache lacks; returns the components of Cluster API. */
async function prepareCache(
  instance: Instance,
  binaries: Binaries,
  report: Report,
  { core }: Platform,
): Promise<KubeObject[]> {
  const onWait = (holder: number): void => report(`waiting for process ${holder}, which fills ${instance.cache}`);
  return withLock(join(instance.cache, 'lock'), onWait, async () => {
    const images = await packImages(instance.cache, binaries, report);
    const pause = await pauseImage(binaries);
    const store = await imageStore(instance, images, pause, report);
    await keepImageStore(instance, store, pause);
    return providerComponents(instance.cache, core, binaries['kubectl'] ?? 'kubectl', report);
  });
}

/** One directory with every binary, for search paths and for containerd's plugins. */
async function linkBinaries(instance: Instance, binaries: Binaries): Promise<void> {
  const directory = binDirectory(instance);
  await mkdir(directory, { recursive: true });
  const present = await readdir(directory);
  for (const [name, path] of Object.entries(binaries)) {
    if (!present.includes(name)) await symlink(path, join(directory, name));
  }
}

const unrealFileSystems: Readonly<Record<number, string>> = { 0x01021994: 'tmpfs', 0x794c7630: 'overlay' };

/** containerd mounts overlays in there: the kernel refuses that on an overlay, and a tmpfs would use memory. */
async function refuseUnrealFileSystem(instance: Instance): Promise<void> {
  const directories = { HCP_TESTBED_CACHE: instance.cache, HCP_TESTBED_STATE: dirname(instance.directory) };
  for (const [variable, directory] of Object.entries(directories)) {
    await mkdir(directory, { recursive: true });
    const kind = unrealFileSystems[(await statfs(directory)).type];
    if (kind)
      throw new Error(
        `${directory} is on a ${kind}: set ${variable} to a directory of a real file system, such as ext4`,
      );
  }
}

/** Other than the everyday names share fourteen address ranges. */
async function refuseTakenAddresses(instance: Instance): Promise<void> {
  const taken = await run(['ip', '-brief', 'address', 'show', 'to', lanCidr(instance)]);
  if (!taken) return;
  throw new Error(
    `${lanCidr(instance)} is in use on this host (${taken.trim()}): choose another HCP_TESTBED than ${instance.name}`,
  );
}
