import { join } from 'node:path';
import { findBinaries, findFurtherBinaries } from './binaries.ts';
import { clusterApiCore } from './components.ts';
import { familiesOf, oldestClusterApi, oldestGatewayApi, pinnedMinors } from './families.ts';
import { importArchive } from './image-store.ts';
import { pack, providerImage } from './images.ts';
import type { Instance } from './instance.ts';
import { withLock } from './lock.ts';
import { replacePrograms } from './machine-programs.ts';
import { gatewayApi, type ModuleManifests } from './module-manifests.ts';
import type { Platform } from './platform.ts';
import type { Report } from './progress.ts';

/** The oldest minor of Kubernetes that the documents promise for management clusters. */
export const oldestKubernetes = '1.34';

const core = { ...clusterApiCore, folder: 'config/default', family: oldestClusterApi.name };

/** The kinds of the oldest Gateway API that the documents promise. */
export const oldestGatewayKinds: ModuleManifests = { ...gatewayApi, family: oldestGatewayApi.name };

const programs = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kube-proxy', 'kubelet'] as const;

/** The oldest versions of Kubernetes and Cluster API that the documents promise. What the cache does not have is built. */
export async function oldestPlatform(instance: Instance, report: Report): Promise<Platform> {
  const minor = pinnedMinors[oldestKubernetes];
  if (!minor) throw new Error(`Kubernetes ${oldestKubernetes} is not pinned`);
  const own = await findBinaries(instance.cache, process.env['HCP_TESTBED_BIN'], () => {});
  const further = await findFurtherBinaries([...familiesOf(minor), oldestClusterApi], instance.cache, report);
  const image = await providerImage(core, 'capi-core', { ...own, ...further });
  return {
    core,
    async equip(machine) {
      await replacePrograms(machine, further, programs);
      const packed = await withLock(
        join(instance.cache, 'lock'),
        () => {},
        () => pack(instance.cache, [image], report),
      );
      for (const { archive } of packed) await importArchive(machine, archive);
    },
  };
}
