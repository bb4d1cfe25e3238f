import { KubeClient } from '../../../reconciler/kube/client.ts';
import { connect, loadKubeConfig } from '../../../reconciler/kube/config.ts';
import { importArchive } from './image-store.ts';
import { kubeconfigPath, type Instance } from './instance.ts';
import { findMachine, type Machine } from './machine.ts';

/** A client of the management cluster's API for its administrator. The caller closes its connection. */
export async function clientOf(instance: Instance): Promise<KubeClient> {
  return new KubeClient(await connect(loadKubeConfig(kubeconfigPath(instance))));
}

/** A machine of a running testbed. Throws when it does not run. */
export async function runningMachine(instance: Instance, name: string): Promise<Machine> {
  const machine = await findMachine(instance, name);
  if (!machine) throw new Error(`testbed ${instance.name} has no running machine ${name}: npm run testbed -- status`);
  return machine;
}

/** Imports an OCI archive into a machine, by default the management cluster's node; pods there use it by its name. */
export async function loadImage(instance: Instance, archive: string, machineName = 'm'): Promise<void> {
  await importArchive(await runningMachine(instance, machineName), archive);
}
