import { installProvider, removeProvider } from '../support/provider.ts';
import { kubernetesVersion, single, Workbench } from '../support/workbench.ts';
import { installAddon } from '../tools/testbed/addons.ts';
import type { Instance } from '../tools/testbed/instance.ts';
import { createInfrastructure, infrastructureRef, installInfrastructure } from './infrastructure.ts';
import { createMachineDeployment } from './machine-deployment.ts';

/** A ready hosted cluster whose only Machine comes from a MachineDeployment of the same name. */
export interface BootstrappedCluster {
  readonly bench: Workbench;
  /** Takes it down, and the provider with it. */
  readonly close: () => Promise<void>;
}

export interface BootstrappedClusterOptions {
  /** Path of the management cluster's kubeconfig. */
  readonly kubeconfig: string;
  readonly namespace: string;
  readonly name: string;
  /** Version of the control plane and of its Machine. By default the newest one. */
  readonly version?: string;
}

/** Brings one up, with this provider and the kubeadm bootstrap provider as real processes with their real rights. */
export async function openBootstrappedCluster(
  instance: Instance,
  { kubeconfig, namespace, name, version = kubernetesVersion }: BootstrappedClusterOptions,
): Promise<BootstrappedCluster> {
  const report = (line: string): void => console.log(line);
  await installAddon(instance, 'kubeadm-bootstrap', report);
  await installProvider(instance, report);
  const bench = await Workbench.open(kubeconfig, namespace);
  await installInfrastructure(bench.client);
  await createInfrastructure(bench.client, namespace, name);
  await bench.create(name, { ...single, version }, { infrastructureRef: infrastructureRef(name) });
  await bench.untilReady(name);
  const deployment = { namespace, cluster: name, version, replicas: 1 };
  await createMachineDeployment(instance, bench.client, deployment);
  const close = async (): Promise<void> => {
    await bench.deleteAll();
    await bench.close();
    await removeProvider(instance);
  };
  return { bench, close };
}
