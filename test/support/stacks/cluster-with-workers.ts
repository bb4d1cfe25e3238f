import { Node } from '../../../constructs/api/resources.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import type { ClusterName } from '../../tools/testbed/hosted-api.ts';
import type { Instance } from '../../tools/testbed/instance.ts';
import { kubectl } from '../../tools/testbed/kubectl.ts';
import { machineNames } from '../../tools/testbed/machine.ts';
import { withHostedApi } from '../../tools/testbed/workers.ts';
import { until } from '../until.ts';
import { kubernetesVersion } from '../workbench.ts';

interface NodeObject extends KubeObject {
  readonly spec?: { readonly providerID?: string };
  readonly status?: {
    readonly nodeInfo?: { readonly kubeletVersion: string };
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

const limitMs = 300_000;

/** Resolves when there are so many Nodes, all Ready with this version, each as the name of its cloud, and its version. */
export async function untilNodes(
  instance: Instance,
  cluster: ClusterName,
  count: number,
  version = kubernetesVersion,
): Promise<string[]> {
  let seen: string[] = [];
  const complete = async () => {
    const { items } = await withHostedApi(instance, cluster, ({ client }) => client.list<NodeObject>(Node));
    const ready = items.filter(({ status }) =>
      status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
    );
    seen = ready.map(({ spec, status }) => `${spec?.providerID?.split('://')[0]} ${status?.nodeInfo?.kubeletVersion}`);
    const isComplete = items.length === count && ready.length === count;
    return isComplete && seen.every((node) => node.endsWith(` ${version}`)) && seen;
  };
  return until(
    `${count} nodes of ${cluster.name}`,
    () => complete().catch(() => undefined),
    limitMs,
    () => seen,
  );
}

/** Waits as the pages say. */
export async function untilAvailable(instance: Instance, { namespace, name }: ClusterName): Promise<void> {
  const condition = ['--for=condition=Available', '--timeout=5m'];
  await kubectl(instance, ['wait', 'cluster', name, '--namespace', namespace, ...condition]);
}

/** Deletes a Cluster; returns its machines that are left when it is gone. */
export async function deleteCluster(instance: Instance, { namespace, name }: ClusterName): Promise<string[]> {
  await kubectl(instance, ['delete', 'cluster', name, '--namespace', namespace, '--timeout=5m']);
  return machinesOf(instance, name);
}

/** Machines of this host that belong to a Cluster. */
export async function machinesOf(instance: Instance, cluster: string): Promise<string[]> {
  return (await machineNames(instance)).filter((machine) => machine.startsWith(cluster));
}
