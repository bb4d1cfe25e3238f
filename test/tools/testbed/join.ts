import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { Node } from '../../../constructs/api/resources.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import type { BootstrapToken } from './bootstrap-token.ts';
import type { HostedApi } from './hosted-api.ts';
import { joinConfiguration, kubeletScript, type JoinTimeouts } from './join-configuration.ts';
import { inMachine, joinLog, type Machine } from './machine.ts';
import { until } from './progress.ts';
import { attempt, CommandError } from './run.ts';
import { serviceLog, startScript } from './service.ts';

interface NodeObject extends KubeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/**
 * Runs `kubeadm join` on a machine that has no kubelet yet; ends when kubeadm succeeds, which is before the node is
 * Ready. Throws with the end of kubeadm's output.
 */
export async function joinMachine(
  machine: Machine,
  api: Pick<HostedApi, 'endpoint' | 'certificateAuthority' | 'services'>,
  token: BootstrapToken,
  timeouts?: JoinTimeouts,
): Promise<void> {
  for (const network of api.services) await refuseUnknownServices(machine, network);
  await startKubelet(machine);
  const configuration = stringify(joinConfiguration(api, token, machine.name, timeouts));
  await joinWith(machine, configuration);
}

/** Starts the kubelet's service, which waits for the files that `kubeadm join` writes. */
export async function startKubelet(machine: Machine): Promise<void> {
  await startScript(machine, 'kubelet', kubeletScript(machine));
}

/** Runs `kubeadm join` with a configuration written elsewhere, after {@link startKubelet}. */
export async function joinWith(machine: Machine, configuration: string): Promise<void> {
  const [file, log] = [join(machine.directory, 'join.yaml'), joinLog(machine)];
  await writeFile(file, configuration, { mode: 0o600 });
  // cgroup version 1 is an error for kubeadm; everything else about a testbed's machine is at most a warning
  const kubeadm = `kubeadm join --config ${file} --ignore-preflight-errors=SystemVerification --v=2`;
  try {
    await inMachine(machine, ['sh', '-c', `exec ${kubeadm} >${log} 2>&1`]);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw new Error(`kubeadm join failed on machine ${machine.name}${await failure(machine)}`, { cause: error });
  }
}

/** The end of kubeadm's output, and the errors of the kubelet if it was started. */
async function failure(machine: Machine): Promise<string> {
  const [kubeadm, kubelet] = [joinLog(machine), serviceLog(machine, 'kubelet')];
  const output = (await read(kubeadm)).filter((line) => !line.includes('Feature gate default state'));
  const complaints = lastOfEach(await read(kubelet));
  return [
    `; ${kubeadm} ends with`,
    ...output.slice(-12),
    ...(complaints.length > 0 ? [`the last errors in ${kubelet}`, ...complaints] : []),
  ].join('\n');
}

/** The kubelet's errors, from each place in its source the last one: it repeats itself while it waits. */
function lastOfEach(log: readonly string[]): string[] {
  const places = new Map<string, string>();
  for (const line of log) {
    const place = /^E\d{4} \S+ +\d+ (\S+\])/.exec(line)?.[1];
    if (place) places.set(place, line);
  }
  return [...places.values()];
}

async function read(log: string): Promise<string[]> {
  const text = await readFile(log, 'utf8').catch(() => '(no such file)');
  return text.trimEnd().split('\n');
}

/** Ends when the hosted cluster reports the node as Ready. Throws with the end of the kubelet's log. */
export async function untilNodeReady(machine: Machine, { client }: Pick<HostedApi, 'client'>): Promise<void> {
  const expectation = { what: `node ${machine.name} Ready`, timeoutMs: 180_000, log: serviceLog(machine, 'kubelet') };
  await until(expectation, async () => {
    const node = await client.find<NodeObject>(Node, { name: machine.name });
    return node?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
  });
}

/**
 * A pod that connects to a Service before kube-proxy has rules must fail at once, not hang in a SYN time-out of half a minute:
 * the rules rewrite the address before this route applies.
 */
async function refuseUnknownServices({ pid }: Machine, network: string): Promise<void> {
  const inside = ['nsenter', '--target', String(pid), '--net'] as const;
  await attempt([...inside, 'ip', 'rule', 'add', 'iif', 'cni0', 'to', network, 'unreachable']);
}
