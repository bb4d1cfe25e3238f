import { join } from 'node:path';
import type { KubeClient } from '../../../reconciler/kube/client.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { clientOf, runningMachine } from './access.ts';
import { applyObjects } from './apply-objects.ts';
import { applyProvider, untilBootstrapAnswers } from './cluster-api.ts';
import { kubeadmBootstrap, providerComponents } from './components.ts';
import { binDirectory, type Instance } from './instance.ts';
import { withLock } from './lock.ts';
import { certManagerKinds, cilium, gatewayApi, type ModuleManifests, traefik } from './module-manifests.ts';
import { step, type Report } from './progress.ts';
import { moduleObjects } from './rendered-objects.ts';
import { startObjectStore } from './start-object-store.ts';
import { locked } from './take-down.ts';
import { installTraefik } from './traefik.ts';

interface Target {
  readonly instance: Instance;
  readonly client: KubeClient;
  readonly report: Report;
}

const addons = {
  'gateway-api': async (target) => applyObjects(target.client, await manifestsOf(target, gatewayApi)),
  // a Gateway needs its kind first, and Traefik looks for missing CRDs only when it restarts
  traefik: async (target) => {
    await applyObjects(target.client, await manifestsOf(target, gatewayApi));
    await installTraefik(target.instance, target.client, await manifestsOf(target, traefik));
  },
  'cilium-crds': async (target) => applyObjects(target.client, await manifestsOf(target, cilium)),
  'cert-manager-crds': async (target) => applyObjects(target.client, await manifestsOf(target, certManagerKinds)),
  s3: ({ instance, report }) => startObjectStore(instance, report),
  'kubeadm-bootstrap': async (target) => {
    const { instance, client, report } = target;
    const kubectl = join(binDirectory(instance), 'kubectl');
    const components = await cached(target, () =>
      providerComponents(instance.cache, kubeadmBootstrap, kubectl, report),
    );
    await applyProvider(instance, client, kubeadmBootstrap, components);
    await untilBootstrapAnswers(client);
  },
} satisfies Record<string, (target: Target) => Promise<void>>;

/** A component that a testbed can have in addition to what `up` installs. */
export type Addon = keyof typeof addons;

/** Every add-on. */
export const addonNames: readonly string[] = Object.keys(addons);

/** Whether there is an add-on of that name. */
export function isAddon(name: string): name is Addon {
  return name in addons;
}

/** Installs an add-on in a running testbed and ends when it works. What is installed already stays. */
export async function installAddon(instance: Instance, name: Addon, report: Report): Promise<void> {
  await locked(instance, report, async () => {
    await runningMachine(instance, 'm');
    const client = await clientOf(instance);
    try {
      await step(report, `add-on ${name}`, () => addons[name]({ instance, client, report }));
    } finally {
      await client.connection.close();
    }
  });
}

function manifestsOf(target: Target, manifests: ModuleManifests): Promise<KubeObject[]> {
  return cached(target, () => moduleObjects(target.instance.cache, manifests, target.report));
}

/** Runs work that may write to the cache, which all instances share. */
function cached<T>({ instance, report }: Target, work: () => Promise<T>): Promise<T> {
  const onWait = (holder: number): void => report(`waiting for process ${holder}, which fills ${instance.cache}`);
  return withLock(join(instance.cache, 'lock'), onWait, work);
}
