import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { binDirectory, lanAddress, managementNumber, podCidr, type Instance } from './instance.ts';

/** The settings of a machine that its files contain. */
export interface MachineIdentity {
  readonly instance: Instance;
  readonly name: string;
  readonly number: number;
  /** The machine's own directory on the host, visible under the same path inside. */
  readonly directory: string;
  /** The image of every pod's sandbox. */
  readonly pauseImage: string;
}

/** Writes the files of the machine's /etc. */
export async function writeMachineFiles(machine: MachineIdentity): Promise<void> {
  for (const [name, content] of Object.entries(machineFiles(machine))) {
    const path = join(machine.directory, 'etc', name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  }
}

function machineFiles(machine: MachineIdentity): Record<string, string> {
  const { instance, name, number } = machine;
  return {
    'resolv.conf': resolverConfig(instance, number),
    hostname: `${name}\n`,
    hosts: `127.0.0.1 localhost\n${lanAddress(instance, number)} ${name}\n`,
    'machine-id': `${number.toString(16).padStart(32, '0')}\n`,
    [podNetworkFile]: podNetwork([podCidr(instance, number)]),
    'containerd/config.toml': containerdConfig(machine),
  };
}

/**
 * Workers resolve hosted clusters by name. Any other name fails at once, and on the management machine every name does: the
 * host's resolver would cost kubeadm ten seconds.
 */
function resolverConfig(instance: Instance, number: number): string {
  if (number === managementNumber) return '';
  return `nameserver ${lanAddress(instance, managementNumber)}\noptions timeout:1 attempts:2\n`;
}

/** Path in /etc of the network of a machine's pods. containerd reads it again when it changes. */
export const podNetworkFile = 'cni/net.d/10-bridge.conflist';

/** A bridge whose pods get an address of each subnet. */
export function podNetwork(subnets: readonly string[]): string {
  const routes = subnets.map((subnet) => ({ dst: subnet.includes(':') ? '::/0' : '0.0.0.0/0' }));
  const ipam = { type: 'host-local', ranges: subnets.map((subnet) => [{ subnet }]), routes };
  return JSON.stringify({
    cniVersion: '1.0.0',
    name: 'bridge',
    plugins: [
      { type: 'bridge', bridge: 'cni0', isGateway: true, ipMasq: false, hairpinMode: true, ipam },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  });
}

/**
 * restrict_oom_score_adj: without CAP_SYS_RESOURCE every sandbox would fail with "can't get final child's PID from pipe".
 * stats_collect_period: every second, as by default, all shims read the cgroups of their containers, which takes an eighth of the
 * processor time of all tests.
 */
function containerdConfig({ directory, instance, pauseImage }: MachineIdentity): string {
  return `version = 4
root = '${join(directory, 'data/containerd')}'

[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = '${pauseImage}'

[plugins.'io.containerd.cri.v1.runtime']
  disable_apparmor = true
  restrict_oom_score_adj = true
  stats_collect_period = '10m'
  stats_retention_period = '20m'

  [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
    runtime_type = 'io.containerd.runc.v2'

    [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
      BinaryName = '/usr/sbin/runc'
      SystemdCgroup = false

  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = ['${binDirectory(instance)}']
    conf_dir = '/etc/cni/net.d'

[plugins.'io.containerd.nri.v1.nri']
  disable = true
`;
}
