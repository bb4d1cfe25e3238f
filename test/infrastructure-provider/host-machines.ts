import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { Node } from '../../constructs/api/resources.ts';
import { minorOf } from '../../constructs/cluster/versions.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';
import { kubernetesVersion } from '../support/workbench.ts';
import { addMinor, type FurtherMinor } from '../tools/testbed/further-minor.ts';
import type { ClusterName } from '../tools/testbed/hosted-api.ts';
import { type Instance, lanAddress } from '../tools/testbed/instance.ts';
import { joinWith, startKubelet } from '../tools/testbed/join.ts';
import { findMachine, type Machine, machineDirectory, machineNames } from '../tools/testbed/machine.ts';
import { addMachine, removeMachine } from '../tools/testbed/node-machines.ts';
import { type Report, until } from '../tools/testbed/progress.ts';
import { withHostedApi } from '../tools/testbed/workers.ts';
import type { Cloud } from './clouds.ts';
import type { HostMachine } from './plan.ts';

interface NodeObject extends KubeObject {
  readonly spec?: { readonly taints?: readonly { readonly key: string }[] };
}

/** The taint of a Node that waits for a cloud controller manager. */
const uninitialized = 'node.cloudprovider.kubernetes.io/uninitialized';

/** A first boot. */
export interface Boot {
  readonly name: string;
  readonly cluster: ClusterName;
  /** Version of the machine's programs; by default those of the testbed. */
  readonly version: string | undefined;
  /** Bootstrap data, as cloud-init gets it. */
  readonly userData: string;
}

/** The machines of a testbed as a cloud has them: they boot with bootstrap data, and join. */
export class HostMachines {
  readonly #instance: Instance;
  readonly #cloud: Cloud;
  readonly #report: Report;
  readonly #minors = new Map<number, Promise<FurtherMinor>>();

  constructor(instance: Instance, cloud: Cloud, report: Report) {
    this.#instance = instance;
    this.#cloud = cloud;
    this.#report = report;
  }

  async stateOf(name: string): Promise<HostMachine> {
    if (!(await machineNames(this.#instance)).includes(name)) return 'absent';
    return (await this.versionOf(name)) === undefined ? 'unfinished' : 'joined';
  }

  /** The version that a machine has joined with; undefined until it has. */
  async versionOf(name: string): Promise<string | undefined> {
    return readFile(joinedFile(this.#instance, name), 'utf8').catch(() => undefined);
  }

  /** Addresses of a machine, for its status. */
  async addressesOf(name: string): Promise<{ type: string; address: string }[]> {
    const machine = await findMachine(this.#instance, name);
    if (!machine) return [];
    const address = lanAddress(this.#instance, machine.number);
    return [
      { type: 'Hostname', address: name },
      { type: 'InternalIP', address },
    ];
  }

  /**
   * Powers a machine on, and lets it join. A cloud controller manager then names the machine of its Node, and removes the taint of
   * one that waits for it, which this does here.
   * @param poweredOn called before it joins
   */
  async boot({ name, cluster, version, userData }: Boot, poweredOn: () => Promise<void>): Promise<void> {
    await removeMachine(this.#instance, name);
    const machine = await addMachine(this.#instance, name);
    await this.#equip(machine, version);
    await poweredOn();
    await startKubelet(machine);
    const filled = Object.entries(this.#cloud.metadataOf(name)).reduce(
      (text, [key, value]) => text.replaceAll(`{{ ${key} }}`, value),
      userData,
    );
    await joinWith(machine, stringify(joinConfigurationIn(filled)));
    await this.#nameInNode(name, cluster);
    await writeFile(joinedFile(this.#instance, name), version ?? kubernetesVersion);
  }

  async remove(name: string): Promise<void> {
    const left = await removeMachine(this.#instance, name);
    if (left.length > 0) throw new Error(`machine ${name} left on this host: ${left.join(', ')}`);
  }

  async #equip(machine: Machine, version = kubernetesVersion): Promise<void> {
    const minor = minorOf(version);
    if (minor === minorOf(kubernetesVersion)) return;
    const known = this.#minors.get(minor) ?? addMinor(this.#instance, `1.${minor}`, this.#report);
    this.#minors.set(minor, known);
    await (await known).equip(machine);
  }

  async #nameInNode(name: string, cluster: ClusterName): Promise<void> {
    const providerID = this.#cloud.providerIdOf(name);
    await withHostedApi(this.#instance, cluster, async ({ client }) => {
      const find = () => client.find<NodeObject>(Node, { name });
      const { spec } = await until({ what: `node ${name}`, timeoutMs: 180_000 }, find);
      const options = { fieldManager: 'testbed-infrastructure' };
      const taints = spec?.taints?.filter(({ key }) => key !== uninitialized);
      if (taints?.length !== spec?.taints?.length) {
        const status = { addresses: await this.addressesOf(name) };
        await client.mergePatch(Node, { name }, { status }, { ...options, subresource: 'status' });
      }
      await client.mergePatch(Node, { name }, { spec: { providerID, ...(taints && { taints }) } }, options);
    });
  }
}

/** The file that cloud-init writes for kubeadm. */
export function joinConfigurationIn(userData: string): unknown {
  const { write_files: files } = parse(userData) as { write_files: { path: string; content: string }[] };
  const content = files.find(({ path }) => path === '/run/kubeadm/kubeadm-join-config.yaml')?.content;
  if (content === undefined) throw new Error('the bootstrap data contain no configuration for kubeadm join');
  return parse(content);
}

function joinedFile(instance: Instance, name: string): string {
  return join(machineDirectory(instance, name), 'joined');
}
