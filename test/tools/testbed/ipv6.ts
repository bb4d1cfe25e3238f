import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lanAddress, lanAddressIPv6, podCidr, podCidrIPv6 } from './instance.ts';
import { kubeletDefaults } from './join-configuration.ts';
import { insidePath, type Machine } from './machine.ts';
import { podNetwork, podNetworkFile } from './machine-files.ts';
import { run } from './run.ts';

/** Gives a machine that has not joined yet an IPv6 address beside its own, and its pods addresses of both families. */
export async function addIPv6(machine: Machine): Promise<void> {
  const { instance, number, pid } = machine;
  const address = lanAddressIPv6(instance, number);
  // without `nodad` the address can be used only after a second
  const add = ['ip', '-6', 'address', 'add', `${address}/64`, 'dev', 'eth0', 'nodad'] as const;
  await run(['nsenter', '--target', String(pid), '--net', ...add]);
  const subnets = [podCidr(instance, number), podCidrIPv6(instance, number)];
  await writeFile(insidePath(machine, join('/etc', podNetworkFile)), podNetwork(subnets));
  const flag = `--node-ip=${lanAddress(instance, number)},${address}`;
  await writeFile(insidePath(machine, kubeletDefaults), `KUBELET_EXTRA_ARGS="$KUBELET_EXTRA_ARGS ${flag}"\n`);
}
