import { join } from 'node:path';
import { type Binaries, findBinaries, findFurtherBinaries } from './binaries.ts';
import { familiesOf, pinnedMinors, pinnedVersion } from './families.ts';
import { importArchive } from './image-store.ts';
import { hostedClusterImages, pack } from './images.ts';
import type { Instance } from './instance.ts';
import { withLock } from './lock.ts';
import { replacePrograms } from './machine-programs.ts';
import { findMachine, type Machine } from './machine.ts';
import { step, type Report } from './progress.ts';

/** Another minor of Kubernetes than the testbed's own, for hosted clusters and their workers. */
export interface FurtherMinor {
  /** Its pinned version, such as `v1.35.8`. */
  readonly version: string;
  /** The version of its kubelet, which a patch release may share with another one. */
  readonly kubelet: string;
  /** Gives a worker's machine its kubelet, its kubeadm and its images, before it joins. */
  readonly equip: (worker: Machine) => Promise<void>;
  /** Gives any machine the images of its add-ons, which run on nodes of earlier minors too. */
  readonly provideAddOns: (worker: Machine) => Promise<void>;
}

const nodePrograms = ['kubelet', 'kubeadm'] as const;
const nodeImages = /\/(kube-proxy|coredns|proxy-agent):/;

/**
 * Gives the machine of the management cluster the images of another minor, such as `1.35`, or of a patch release, such as
 * `1.36.3`. What the cache does not have of it is built. @throws for one that is not pinned
 * @param serversOnly for a control plane without nodes, with the etcd of the newest minor: nothing else is built or provided
 */
export async function addMinor(
  instance: Instance,
  minor: string,
  report: Report,
  { serversOnly = false } = {},
): Promise<FurtherMinor> {
  const folders = pinnedMinors[minor];
  if (!folders) throw new Error(`Kubernetes ${minor} is not pinned: use ${Object.keys(pinnedMinors).join(' or ')}`);
  const own = await findBinaries(instance.cache, process.env['HCP_TESTBED_BIN'], () => {});
  const further = await findFurtherBinaries(familiesOf(folders, { serversOnly }), instance.cache, report);
  const binaries: Binaries = { ...own, ...further };
  const images = await withLock(
    join(instance.cache, 'lock'),
    () => {},
    async () => pack(instance.cache, await hostedClusterImages(folders, binaries, { serversOnly }), report),
  );
  const importAll = (machine: Machine, wanted: RegExp) =>
    step(report, `${machine.name}: images of Kubernetes ${minor}`, async () => {
      for (const { reference, archive } of images) if (wanted.test(reference)) await importArchive(machine, archive);
    });
  const management = await findMachine(instance, 'm');
  if (!management) throw new Error(`the management machine of testbed ${instance.name} does not run`);
  await importAll(management, /./);
  const provideAddOns = (worker: Machine) => importAll(worker, nodeImages);
  return {
    provideAddOns,
    version: await pinnedVersion(folders.kubernetes, 'k8s.io/kubernetes'),
    kubelet: await pinnedVersion(folders.node ?? folders.kubernetes, 'k8s.io/kubernetes'),
    async equip(worker) {
      await replacePrograms(worker, binaries, nodePrograms);
      await provideAddOns(worker);
    },
  };
}
