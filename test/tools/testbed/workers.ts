import { mkdir, readdir, readlink, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Cluster, Node } from '../../../constructs/api/resources.ts';
import type { KubeClient } from '../../../reconciler/kube/client.ts';
import { clientOf } from './access.ts';
import { createBootstrapToken, untilSigned } from './bootstrap-token.ts';
import { type ClusterName, type HostedApi, openHostedApi } from './hosted-api.ts';
import type { Instance } from './instance.ts';
import { joinMachine, untilNodeReady } from './join.ts';
import { machineNames, type Machine } from './machine.ts';
import { addMachine, removeMachine } from './node-machines.ts';
import { step, type Report } from './progress.ts';

/** A machine that has joined a hosted cluster as a node of the same name. */
export interface Worker {
  readonly name: string;
  readonly machine: Machine;
  /** Milliseconds from power on, and from the start of `kubeadm join`, until the node was Ready. */
  readonly readyAfterMs: { readonly powerOn: number; readonly join: number };
}

/** What a worker may differ in. */
export interface WorkerOptions {
  /** Its name; by default that of the cluster with the next number. */
  readonly name?: string | undefined;
  /** What its machine needs before it joins. By default nothing: it has the programs of the testbed. */
  readonly equip?: (machine: Machine) => Promise<void>;
}

/**
 * Adds a worker to the hosted cluster of a Cluster: a new machine that joins by `kubeadm join`. If that fails
 * the machine stays, for its logs, until {@link removeWorker}.
 */
export async function addWorker(
  instance: Instance,
  cluster: ClusterName,
  report: Report = () => {},
  { name: wantedName, equip = async () => {} }: WorkerOptions = {},
): Promise<Worker> {
  return withHostedApi(instance, cluster, async (api) => {
    const token = await createBootstrapToken(api.client);
    await step(report, `a bootstrap token in ${cluster.name}, and cluster-info signed with it`, () =>
      untilSigned(api.client, token),
    );
    const name = await claimName(instance, cluster, wantedName);
    const poweredOn = performance.now();
    const machine = await step(report, `${name}: machine with containerd`, () => addMachine(instance, name)).catch(
      async (error: unknown) => {
        await rm(recordPath(instance, name));
        throw error;
      },
    );
    await equip(machine);
    const joining = performance.now();
    try {
      await step(report, `${name}: kubeadm join ${api.endpoint}`, () => joinMachine(machine, api, token));
      await step(report, `${name}: node Ready`, () => untilNodeReady(machine, api));
    } catch (error) {
      const remove = `npm run testbed -- worker rm ${cluster.name} ${name} --namespace ${cluster.namespace}`;
      throw new Error(`${error instanceof Error ? error.message : String(error)}\nits machine is kept: ${remove}`, {
        cause: error,
      });
    }
    const ready = performance.now();
    return { name, machine, readyAfterMs: { powerOn: ready - poweredOn, join: ready - joining } };
  });
}

/**
 * Ends a worker's machine and removes its Node, if the hosted cluster still exists. Returns what it left on the host,
 * which is nothing unless there is a fault.
 */
export async function removeWorker(instance: Instance, name: string): Promise<string[]> {
  const cluster = await clusterOf(instance, name);
  const left = await endWorker(instance, name);
  const object = await withManagement(instance, (management) => management.find(Cluster, cluster));
  const isThere = object !== undefined && object.metadata.deletionTimestamp === undefined;
  // not earlier: a running kubelet would register its Node again
  if (isThere) await withHostedApi(instance, cluster, ({ client }) => client.delete(Node, { name }));
  return left;
}

/**
 * Ends a worker's machine and nothing else, for a hosted cluster that does not answer or is removed as well. Returns what it
 * left.
 */
export async function endWorker(instance: Instance, name: string): Promise<string[]> {
  const left = await removeMachine(instance, name);
  await rm(recordPath(instance, name));
  return left;
}

/** Names of a cluster's workers, or of those of all clusters of a namespace; also those that failed to join. */
export async function workerNames(
  instance: Instance,
  { namespace, name }: { readonly namespace: string; readonly name?: string },
): Promise<string[]> {
  const names = await readdir(recordDirectory(instance)).catch(() => []);
  const clusters = await Promise.all(names.map((name) => clusterOf(instance, name)));
  return names.filter((_, index) => {
    const cluster = clusters[index];
    return cluster?.namespace === namespace && (name === undefined || cluster.name === name);
  });
}

/** Runs work with the API of a hosted cluster, and closes its connections. */
export async function withHostedApi<T>(
  instance: Instance,
  cluster: ClusterName,
  work: (api: HostedApi) => Promise<T>,
): Promise<T> {
  const api = await withManagement(instance, (management) => openHostedApi(instance, management, cluster));
  try {
    return await work(api);
  } finally {
    await api.client.connection.close();
  }
}

async function withManagement<T>(instance: Instance, work: (client: KubeClient) => Promise<T>): Promise<T> {
  const client = await clientOf(instance);
  try {
    return await work(client);
  } finally {
    await client.connection.close();
  }
}

/** Only one process can create a link with a name: workers may be added at the same time. It points to `namespace/cluster`. */
async function claimName(instance: Instance, cluster: ClusterName, wanted: string | undefined): Promise<string> {
  if (wanted && !/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(wanted)) {
    throw new Error(`"${wanted}" is no name of a machine: lower-case letters, digits and dashes, at most 63`);
  }
  await mkdir(recordDirectory(instance), { recursive: true });
  for (let number = 1; ; number += 1) {
    const name = wanted ?? `${cluster.name}-worker-${number}`;
    const isNew = await symlink(`${cluster.namespace}/${cluster.name}`, recordPath(instance, name)).then(
      () => true,
      () => false,
    );
    // a machine that is not a worker, such as the management cluster's own
    const isMachine = isNew && (await machineNames(instance)).includes(name);
    if (isNew && !isMachine) return name;
    if (isNew) await rm(recordPath(instance, name));
    if (wanted) throw new Error(`testbed ${instance.name} has a machine ${name} already: choose another name`);
  }
}

async function clusterOf(instance: Instance, name: string): Promise<ClusterName> {
  const [namespace, cluster] = (await readlink(recordPath(instance, name)).catch(() => '')).split('/');
  if (!namespace || !cluster) throw new Error(`testbed ${instance.name} has no worker ${name}`);
  return { namespace, name: cluster };
}

function recordDirectory(instance: Instance): string {
  return join(instance.directory, 'workers');
}

function recordPath(instance: Instance, name: string): string {
  return join(recordDirectory(instance), name);
}
