import {
  bridgeName,
  firstWorkerNumber,
  lanAddress,
  linkName,
  loadBalancerNumbers,
  managementNumber,
  podCidr,
  serviceCidr,
  type Instance,
} from './instance.ts';
import { attempt, run } from './run.ts';

/** Creates the bridge that every machine is connected to. The host itself gets only its address there and routes. */
export async function layBridge(instance: Instance): Promise<void> {
  const bridge = bridgeName(instance);
  await ipBatch([
    `link add ${bridge} type bridge`,
    `address add ${lanAddress(instance, 1)}/24 dev ${bridge}`,
    `link set ${bridge} up`,
    // tests on the host reach ClusterIPs and pods as a pod does; the routes are removed with the bridge
    `route add ${serviceCidr(instance)} via ${lanAddress(instance, managementNumber)}`,
  ]);
}

/** Removes the bridge, and with it the host's routes. */
export async function removeBridge(instance: Instance): Promise<void> {
  await attempt(['ip', 'link', 'delete', bridgeName(instance)]);
}

/** Connects the network namespace of process `pid` to the bridge as machine `number`. */
export async function plugIn(instance: Instance, number: number, pid: number): Promise<void> {
  const link = linkName(instance, number);
  await ipBatch([
    `link add ${link} type veth peer name eth0 address ${hardwareAddress(instance, number)} netns ${pid}`,
    `link set ${link} master ${bridgeName(instance)} up`,
    `route add ${podCidr(instance, number)} via ${lanAddress(instance, number)}`,
  ]);
  const others = machineNumbers().filter((other) => other !== number);
  await ipBatch(
    [
      'link set lo up',
      `address add ${lanAddress(instance, number)}/24 dev eth0`,
      'link set eth0 up',
      `route add default via ${lanAddress(instance, 1)}`,
      // acts as the routing of a CNI plugin
      ...others.map((other) => `route add ${podCidr(instance, other)} via ${lanAddress(instance, other)}`),
      // a pod that connects to a Service before kube-proxy has rules must fail at once, not hang in a SYN time-out of half a
      // minute: the rules rewrite the address before this route applies
      'rule add iif cni0 to 10.96.0.0/12 unreachable',
    ],
    pid,
  );
}

/** The same for each machine with a number: one that takes the place of another is reached at once, and not when caches expire. */
export function hardwareAddress({ index }: Pick<Instance, 'index'>, number: number): string {
  const byte = (value: number) => value.toString(16).padStart(2, '0');
  // locally administered
  return `02:00:00:00:${byte(index)}:${byte(number)}`;
}

/** Disconnects a machine that may be gone already. */
export async function unplug(instance: Instance, number: number): Promise<void> {
  await attempt(['ip', 'link', 'delete', linkName(instance, number)]);
  await attempt(['ip', 'route', 'delete', podCidr(instance, number)]);
}

/** Every valid number of a machine. */
function machineNumbers(): number[] {
  const workers = Array.from(
    { length: loadBalancerNumbers.first - firstWorkerNumber },
    (_, i) => firstWorkerNumber + i,
  );
  return [managementNumber, ...workers];
}

async function ipBatch(commands: readonly string[], pid?: number): Promise<void> {
  const input = `${commands.join('\n')}\n`;
  // not `ip netns exec`: that mounts a new /sys, where the kubelet finds no cgroups
  if (pid) await run(['nsenter', '--target', String(pid), '--net', 'ip', '-batch', '-'], { input });
  else await run(['ip', '-batch', '-'], { input });
}

/** Addresses that the machine of process `pid` answers for in addition to its own. */
export async function extraAddresses(pid: number): Promise<Set<string>> {
  const inside = ['nsenter', '--target', String(pid), '--net'] as const;
  const lines = (await run([...inside, 'ip', '-4', '-oneline', 'address', 'show', 'dev', 'eth0'])).split('\n');
  return new Set(lines.flatMap((line) => / inet ([\d.]+)\/32 /.exec(line)?.[1] ?? []));
}

/** Makes the machine of process `pid` answer for exactly these addresses in addition to its own. */
export async function setExtraAddresses(pid: number, wanted: ReadonlySet<string>): Promise<void> {
  const present = await extraAddresses(pid);
  await ipBatch(
    [
      ...[...wanted].filter((address) => !present.has(address)).map((address) => `address add ${address}/32 dev eth0`),
      ...[...present]
        .filter((address) => !wanted.has(address))
        .map((address) => `address delete ${address}/32 dev eth0`),
    ],
    pid,
  );
}
