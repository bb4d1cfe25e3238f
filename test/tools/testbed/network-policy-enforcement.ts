import { access, writeFile } from 'node:fs/promises';
import { findFurtherBinaries } from './binaries.ts';
import { kubeRouter } from './families.ts';
import { aptGet } from './host-packages.ts';
import type { Instance } from './instance.ts';
import { inMachine, insidePath, type Machine } from './machine.ts';
import type { Report } from './progress.ts';
import { startService } from './service.ts';

const name = 'kube-router';
const ipset = '/usr/sbin/ipset';
const kubeconfigFile = '/run/kube-router.kubeconfig';

/** A machine, and the cluster that it is a node of. */
export interface EnforcingNode {
  readonly machine: Machine;
  /** A kubeconfig of an administrator of that cluster, with an address that the machine reaches. */
  readonly kubeconfig: string;
  /** ClusterIPs of that cluster. */
  readonly serviceCidr: string;
}

/** Gives an instance what {@link enforceNetworkPolicies} needs. Before its machines start, because these do not see what the host gets later. */
export async function equipForPolicies(instance: Instance, report: Report): Promise<void> {
  await findFurtherBinaries([kubeRouter], instance.cache, report);
  await access(ipset).catch(() => aptGet('install', 'ipset'));
}

/**
 * Lets a node enforce the network policies of its cluster: kube-router's firewall, without its routes and its proxy. What is allowed and
 * what is not takes effect a moment later.
 */
export async function enforceNetworkPolicies(
  { machine, kubeconfig, serviceCidr }: EnforcingNode,
  report: Report,
): Promise<void> {
  const binaries = await findFurtherBinaries([kubeRouter], machine.instance.cache, report);
  await writeFile(insidePath(machine, kubeconfigFile), kubeconfig, { mode: 0o600 });
  // Pods of one node have one bridge: what crosses it passes the rules for packets only with this.
  await inMachine(machine, ['sh', '-c', 'echo 1 >/proc/sys/net/bridge/bridge-nf-call-iptables']);
  const flags = {
    'run-firewall': true,
    'run-router': false,
    'run-service-proxy': false,
    'hostname-override': machine.name,
    'service-cluster-ip-range': serviceCidr,
    kubeconfig: kubeconfigFile,
    'iptables-sync-period': '10s',
    'health-port': 0,
    'metrics-port': 0,
  };
  const given = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
  await startService(machine, name, [binaries[name] ?? '', ...given]);
}

/** Whether a program in the network of a pod on a machine can open a TCP connection: kube-router refuses at once what no policy allows. */
export async function podConnects(machine: Machine, pod: string, host: string, port: number): Promise<boolean> {
  const tried = await inMachine(machine, ['sh', '-c', connectScript, 'sh', pod, host, String(port)]);
  return tried.trim() === 'connected';
}

const connectScript = `
for network in /run/netns/*; do
  nsenter --net="$network" ip -oneline -4 address show | grep -q "inet $1/" || continue
  if nsenter --net="$network" timeout 30 bash -c ": </dev/tcp/$2/$3" 2>/dev/null; then echo connected; else echo denied; fi
  exit 0
done
echo "no pod has the address $1" >&2
exit 1
`;
