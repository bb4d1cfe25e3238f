import { inject } from 'vitest';
import type { ClusterSpec } from '../../../imports/cluster.x-k8s.io.ts';
import type { LentName } from '../../support/lent/kinds.ts';
import { Loan, type LoanOptions } from '../../support/lent/loan.ts';
import { OperatedNamespace } from '../../support/operated-namespace.ts';
import { single } from '../../support/workbench.ts';
import { lookupFor } from '../../tools/testbed/gateway-address.ts';
import { type HostedApi, hostedKubectl, openHostedApi } from '../../tools/testbed/hosted-api.ts';
import { instanceFrom, type Instance } from '../../tools/testbed/instance.ts';
import { findMachine, type Machine } from '../../tools/testbed/machine.ts';
import { removeWorker, workerNames } from '../../tools/testbed/workers.ts';

/** A hosted cluster of one API server that workers may join, with its operator. */
export interface JoinableCluster {
  readonly instance: Instance;
  readonly bench: OperatedNamespace;
  readonly api: HostedApi;
  /** kubectl with the hosted cluster; `input` is the content for `-f -`. */
  kubectl(args: readonly string[], input?: string): Promise<string>;
  /** Applies objects to the hosted cluster. */
  apply(...objects: readonly object[]): Promise<void>;
  /** Deletes objects that were applied, and waits until they are gone. */
  remove(...objects: readonly object[]): Promise<void>;
  /** Pauses or resumes the cluster. */
  setPaused(isPaused: boolean): Promise<void>;
  /** Removes the workers, the cluster and its namespace, and ends the operator. */
  close(): Promise<void>;
}

/** A node that has joined before. */
export interface JoinedWorker {
  readonly name: string;
  readonly machine: Machine;
}

/** A hosted cluster that is lent, with its workers. What a borrower changes it undoes: {@link giveBack}. */
export interface LentCluster extends JoinableCluster {
  readonly workers: readonly [JoinedWorker, JoinedWorker];
}

const name = 'hosted';

/**
 * Creates Cluster `hosted` in its own namespace and waits until it is Ready.
 * @param spec the smallest control plane unless given
 * @param before what the testbed needs for it
 * @param clusterSpec what its Cluster has in addition
 */
export async function openJoinableCluster(
  namespace: string,
  spec: object = single,
  before: (instance: Instance) => Promise<void> = async () => {},
  clusterSpec: ClusterSpec = {},
): Promise<JoinableCluster> {
  const instance = instanceFrom(process.env, inject('testbed'));
  await before(instance);
  const bench = new OperatedNamespace(namespace, { lookup: lookupFor(instance) });
  await bench.open();
  await bench.create(name, spec, clusterSpec);
  await bench.untilReady(name);
  return joinable(instance, bench, async (api) => {
    const workers = await workerNames(instance, api);
    const left = (await Promise.all(workers.map((worker) => removeWorker(instance, worker)))).flat();
    return left.length === 0 ? undefined : `workers left on the host:\n${left.join('\n')}`;
  });
}

/** Borrows Cluster `hosted` behind the Gateway, which two workers have joined at the same time. */
export async function borrowJoinableCluster(options?: LoanOptions): Promise<LentCluster> {
  const instance = instanceFrom(process.env, inject('testbed'));
  const lent: LentName = 'gateway with 2 workers';
  const loan = new Loan(lent, options);
  const bench = new OperatedNamespace(loan.kind.namespace, { loan, lookup: lookupFor(instance) });
  try {
    await bench.open();
    const [one, two] = await joinedWorkers(instance, loan.kind.namespace);
    if (!one || !two) throw new Error(`the lent control plane "${lent}" has not both of its workers`);
    return { ...(await joinable(instance, bench)), workers: [one, two] };
  } catch (error) {
    // who waits for it gets it; what is wrong with it is the error of this file
    await bench.close().catch(() => undefined);
    throw error;
  }
}

async function joinedWorkers(instance: Instance, namespace: string): Promise<JoinedWorker[]> {
  const names = await workerNames(instance, { namespace, name });
  const machines = await Promise.all(names.toSorted().map((worker) => findMachine(instance, worker)));
  return machines.flatMap((machine) => (machine ? [{ name: machine.name, machine }] : []));
}

/** Undoes what a file has changed, and returns the cluster, whether that works or not. Does nothing if it was not borrowed. */
export async function giveBack(cluster: LentCluster | undefined, undo: () => Promise<unknown>): Promise<void> {
  if (!cluster) return;
  try {
    await undo();
  } finally {
    await cluster.close();
  }
}

/** @param end what ends before the cluster. Resolves with what it has left */
async function joinable(
  instance: Instance,
  bench: OperatedNamespace,
  end: (api: HostedApi) => Promise<string | undefined> = async () => undefined,
): Promise<JoinableCluster> {
  const api = await openHostedApi(instance, bench.client, { namespace: bench.namespace, name });
  const kubectl = (args: readonly string[], input?: string) => hostedKubectl(instance, api, args, input);
  const listOf = (items: readonly object[]) => JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  return {
    instance,
    bench,
    api,
    kubectl,
    async apply(...items) {
      await kubectl(['apply', '--server-side', '--force-conflicts', '--filename', '-'], listOf(items));
    },
    async remove(...items) {
      const wait = ['--ignore-not-found', '--wait', '--timeout=180s'];
      await kubectl(['delete', ...wait, '--filename', '-'], listOf(items));
    },
    async setPaused(isPaused) {
      await bench.patch(name, { metadata: { annotations: { 'cluster.x-k8s.io/paused': isPaused ? '' : null } } });
      await bench.untilCondition(name, 'Paused', { status: isPaused ? 'True' : 'False' });
    },
    async close() {
      const left = await end(api);
      await api.client.connection.close();
      await bench.close();
      if (left !== undefined) throw new Error(left);
    },
  };
}
