import { inject } from 'vitest';
import type { ClusterSpec } from '../../../imports/cluster.x-k8s.io.ts';
import { OperatedNamespace } from '../../support/operated-namespace.ts';
import { single, type Workbench } from '../../support/workbench.ts';
import { lookupFor } from '../../testbed/gateway-address.ts';
import { type HostedApi, hostedKubectl, openHostedApi } from '../../testbed/hosted-api.ts';
import { instanceFrom, type Instance } from '../../testbed/instance.ts';
import { removeWorker, workerNames } from '../../testbed/workers.ts';

/** A hosted cluster of one API server that workers may join, with its operator. */
export interface JoinableCluster {
  readonly instance: Instance;
  readonly bench: Workbench;
  readonly api: HostedApi;
  /** kubectl with the hosted cluster; `input` is the content for `-f -`. */
  kubectl(args: readonly string[], input?: string): Promise<string>;
  /** Applies objects to the hosted cluster. */
  apply(...objects: readonly object[]): Promise<void>;
  /** Pauses or resumes the cluster. */
  setPaused(isPaused: boolean): Promise<void>;
  /** Removes the workers, the cluster and its namespace, and ends the operator. */
  close(): Promise<void>;
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
  const api = await openHostedApi(instance, bench.client, { namespace, name });
  const kubectl = (args: readonly string[], input?: string) => hostedKubectl(instance, api, args, input);
  return {
    instance,
    bench,
    api,
    kubectl,
    async apply(...items) {
      const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
      await kubectl(['apply', '--server-side', '--force-conflicts', '--filename', '-'], list);
    },
    async setPaused(isPaused) {
      await bench.patch(name, { metadata: { annotations: { 'cluster.x-k8s.io/paused': isPaused ? '' : null } } });
      await bench.untilCondition(name, 'Paused', { status: isPaused ? 'True' : 'False' });
    },
    async close() {
      const workers = await workerNames(instance, api);
      const left = (await Promise.all(workers.map((worker) => removeWorker(instance, worker)))).flat();
      await api.client.connection.close();
      await bench.close();
      if (left.length > 0) throw new Error(`workers left on the host:\n${left.join('\n')}`);
    },
  };
}
