import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * One testbed on this host. Every name and address it uses derives from these values, so that several run side by side:
 * the user's (`hcp`), and that of the tests (`test`).
 */
export interface Instance {
  /** Also the prefix of its links, cgroups and processes: at most nine lower-case letters and digits. */
  readonly name: string;
  /** 0 to 15: the part of every address that is specific to the instance. */
  readonly index: number;
  /** Everything it writes: machines, keys, logs. On a real file system, because containers' layers are overlays in it. */
  readonly directory: string;
  /** Binaries, images and rendered components: shared by all instances. */
  readonly cache: string;
}

/** Number of the management machine, the last byte of its address. */
export const managementNumber = 2;

/** The first machine number that workers may have; they end before {@link loadBalancerNumbers}. */
export const firstWorkerNumber = 10;

/** Last bytes of the addresses given to Services of type LoadBalancer. */
export const loadBalancerNumbers = { first: 200, last: 250 } as const;

/** The instance that the environment selects: `$HCP_TESTBED` (default `hcp`), `$HCP_TESTBED_STATE`, `$HCP_TESTBED_CACHE`. */
export function instanceFrom(env: NodeJS.ProcessEnv, name = env['HCP_TESTBED'] ?? 'hcp'): Instance {
  if (!/^[a-z][a-z0-9]{0,8}$/.test(name)) {
    throw new Error(`HCP_TESTBED="${name}": a name has at most nine lower-case letters and digits, a letter first`);
  }
  return {
    name,
    index: indexOf(name),
    directory: join(env['HCP_TESTBED_STATE'] ?? '/var/lib/hosted-control-plane-testbed', name),
    cache:
      env['HCP_TESTBED_CACHE'] ??
      join(env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'hosted-control-plane-testbed'),
  };
}

/** The two everyday names have the first ranges; any other has one of fourteen, always the same. */
function indexOf(name: string): number {
  const everyday = ['hcp', 'test'].indexOf(name);
  return everyday >= 0 ? everyday : 2 + ((createHash('sha256').update(name).digest()[0] ?? 0) % 14);
}

/** The bridge that all machines of the instance are connected to. */
export function bridgeName(instance: Instance): string {
  return `${instance.name}-br`;
}

/** The host's end of a machine's cable. */
export function linkName(instance: Instance, number: number): string {
  return `${instance.name}-${number}`;
}

/** The cgroup a machine's pods live in, in every hierarchy. */
export function cgroupName(instance: Instance, machineName: string): string {
  return `${instance.name}-${machineName}`;
}

/** Address `number` in the instance's own /24: 1 is the host, 2 the management machine. */
export function lanAddress(instance: Instance, number: number): string {
  return `172.30.${instance.index}.${number}`;
}

/** The instance's own /24. */
export function lanCidr(instance: Instance): string {
  return `${lanAddress(instance, 0)}/24`;
}

/** ClusterIPs of the management cluster. */
export function serviceCidr(instance: Instance): string {
  return `10.${96 + instance.index}.0.0/16`;
}

/** The ClusterIP that answers DNS in the management cluster. */
export function dnsAddress(instance: Instance): string {
  return `10.${96 + instance.index}.0.10`;
}

/** The ClusterIP of the management cluster's own API. */
export function kubernetesServiceAddress(instance: Instance): string {
  return `10.${96 + instance.index}.0.1`;
}

/** Addresses of the pods on machine `number`. */
export function podCidr(instance: Instance, number: number): string {
  return `10.${240 + instance.index}.${number}.0/24`;
}

/** The IPv6 address of a machine that has one: `test/tools/testbed/ipv6.ts`. */
export function lanAddressIPv6(instance: Instance, number: number): string {
  return `fd00:30:${instance.index}::${number}`;
}

/** IPv6 addresses of the pods on a machine that has one. */
export function podCidrIPv6(instance: Instance, number: number): string {
  return `fd00:240:${instance.index}:${number}::/64`;
}

/** The address by which machines, kubelets and tests on the host reach the management cluster's API. */
export function apiServerUrl(instance: Instance): string {
  return `https://${lanAddress(instance, managementNumber)}:6443`;
}

/** The administrator's kubeconfig of the management cluster. */
export function kubeconfigPath(instance: Instance): string {
  return join(instance.directory, 'kubeconfig');
}

/** The directory with every binary by its name; containerd also starts CNI plugins from it. */
export function binDirectory(instance: Instance): string {
  return join(instance.directory, 'bin');
}

/** The directory of the keys and certificates of the management cluster, `<name>.crt` and `<name>.key`. */
export function pkiDirectory(instance: Instance): string {
  return join(instance.directory, 'management/pki');
}

/** The certificate of the management cluster's CA. */
export function caPath(instance: Instance): string {
  return join(pkiDirectory(instance), 'ca.crt');
}

/** Log of the actions on the instance. It stays when the instance is removed. */
export function testbedLog(instance: Instance): string {
  return `${instance.directory}.log`;
}
