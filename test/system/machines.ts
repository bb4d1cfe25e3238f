import { until } from '../support/until.ts';
import type { Workbench } from '../support/workbench.ts';
import { installAddon } from '../tools/testbed/addons.ts';
import type { Instance } from '../tools/testbed/instance.ts';
import { kubectl } from '../tools/testbed/kubectl.ts';
import { installInfrastructure } from './infrastructure.ts';

/** Lets a Cluster have Machines with data of the kubeadm bootstrap provider. */
export async function prepareForMachines(instance: Instance, { client }: Workbench): Promise<void> {
  await installAddon(instance, 'kubeadm-bootstrap', (line) => console.log(line));
  await installInfrastructure(client);
}

/** Names of the Machines of a namespace, the newest last. */
export async function machineNames(instance: Instance, namespace: string): Promise<string[]> {
  const flags = ['--sort-by=.metadata.creationTimestamp', '--output', 'jsonpath={.items[*].metadata.name}'];
  const names = await kubectl(instance, ['--namespace', namespace, 'get', 'machines', ...flags]);
  return names.split(' ').filter(Boolean);
}

/** The newest Machine of a namespace, as soon as there is one. */
export function newestMachine(instance: Instance, namespace: string): Promise<string> {
  return until('a Machine', async () => (await machineNames(instance, namespace)).at(-1), 180_000);
}
