import type { KubeClient } from '../../reconciler/kube/client.ts';
import { joinConfigurationIn } from '../infrastructure-provider/host-machines.ts';
import { until } from '../support/until.ts';
import { hostedKubectl } from '../tools/testbed/hosted-api.ts';
import type { Instance } from '../tools/testbed/instance.ts';
import { joinWith, startKubelet, untilNodeReady } from '../tools/testbed/join.ts';
import { kubectl } from '../tools/testbed/kubectl.ts';
import type { Machine } from '../tools/testbed/machine.ts';
import { addMachine } from '../tools/testbed/node-machines.ts';
import { withHostedApi } from '../tools/testbed/workers.ts';
import { provisionMachine } from './infrastructure.ts';

export interface JoinedMachineOptions {
  readonly namespace: string;
  /** Name of the Cluster. */
  readonly cluster: string;
  /** Name of the Machine, and of the machine on this host. */
  readonly name: string;
  /** Gives the machine the programs of another version than the testbed's. */
  readonly equip?: (machine: Machine) => Promise<void>;
}

/** Creates a Machine's machine as infrastructure and cloud-init would, and waits until Cluster API has its Node. */
export async function joinMachineOf(
  instance: Instance,
  client: KubeClient,
  { namespace, cluster, name, equip = async () => {} }: JoinedMachineOptions,
): Promise<Machine> {
  const userData = await bootstrapData(instance, namespace, name);
  const machine = await addMachine(instance, name);
  await equip(machine);
  await startKubelet(machine);
  await joinWith(machine, JSON.stringify(joinConfigurationIn(userData)));
  await withHostedApi(instance, { namespace, name: cluster }, async (api) => {
    await untilNodeReady(machine, api);
    const providerID = `stub:///${name}`;
    const patch = JSON.stringify({ spec: { providerID } });
    await hostedKubectl(instance, api, ['patch', 'node', name, '--type=merge', `--patch=${patch}`]);
    await provisionMachine(client, namespace, name, providerID);
  });
  const ready = ['wait', `machine/${name}`, '--for=condition=Ready', '--timeout=90s'];
  await kubectl(instance, ['--namespace', namespace, ...ready]);
  return machine;
}

/** The bootstrap data that a machine gets at its first boot. */
export async function bootstrapData(instance: Instance, namespace: string, machine: string): Promise<string> {
  const inNamespace = (...args: string[]) => kubectl(instance, ['--namespace', namespace, ...args]);
  const path = 'jsonpath={.spec.bootstrap.dataSecretName}';
  const secretName = async () => (await inNamespace('get', 'machine', machine, '--output', path)) || undefined;
  const secret = await until(`bootstrap data of ${machine}`, secretName, 180_000);
  const value = await inNamespace('get', 'secret', secret, '--output', 'jsonpath={.data.value}');
  return Buffer.from(value, 'base64').toString('utf8');
}
