import { Cluster, HostedControlPlane, Namespace, Secret } from '../../constructs/api/resources.ts';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import { type SecretObject, valueOf } from '../../reconciler/pki/secret.ts';
import type { HostedControlPlaneObject, Workbench } from '../support/workbench.ts';
import { until } from '../testbed/progress.ts';
import { untilUsable } from './floor.ts';

/** When what was there, in milliseconds from the moment the Cluster and the HostedControlPlane were applied. */
export interface Provisioning {
  /** Everything the spec asks for is there, the kubeconfig works, and so do the controllers of the hosted cluster. */
  readonly ready: number;
  /** Conditions as they became true. */
  readonly timeLine: readonly { readonly what: string; readonly ms: number }[];
}

/** The first entry of a time line: from here on work may begin. */
export const ownerNamed = 'Cluster API has named the owner';

/** Applies a Cluster and its HostedControlPlane and waits as its user would. */
export async function measureProvisioning(bench: Workbench, cluster: string, spec: object): Promise<Provisioning> {
  const start = performance.now();
  await bench.create(cluster, spec);
  const timeLine: { what: string; ms: number }[] = [];
  const usable = untilKubeconfig(bench, cluster).then(untilUsable);
  const name = { namespace: bench.namespace, name: `${cluster}-cp` };
  const events = bench.client.watch<HostedControlPlaneObject>(HostedControlPlane, {
    namespace: bench.namespace,
    fieldSelector: `metadata.name=${name.name}`,
  });
  const seen = new Set<string>();
  for await (const event of events) {
    if (event.type === 'BOOKMARK' || event.type === 'DELETED') continue;
    const { status, metadata } = event.object;
    if (metadata.ownerReferences?.length && !seen.has('owned')) {
      seen.add('owned');
      timeLine.push({ what: ownerNamed, ms: performance.now() - start });
    }
    for (const { type, status: value } of status?.conditions ?? []) {
      if (value !== 'True' || seen.has(type)) continue;
      seen.add(type);
      timeLine.push({ what: type, ms: performance.now() - start });
    }
    if (seen.has('Ready')) break;
  }
  await usable;
  return { ready: performance.now() - start, timeLine };
}

async function untilKubeconfig({ client, namespace }: Workbench, cluster: string): Promise<string> {
  return until({ what: `kubeconfig of ${cluster}`, timeoutMs: 120_000, intervalMs: 100 }, async () => {
    return valueOf(await client.find<SecretObject>(Secret, { namespace, name: `${cluster}-kubeconfig` }), 'value');
  });
}

/** Deletes a Cluster; milliseconds until nothing of it is left. */
export async function measureDeletion(bench: Workbench, cluster: string): Promise<number> {
  const start = performance.now();
  await bench.delete(cluster, 120_000);
  return performance.now() - start;
}

/** Removes what an aborted run has left. */
export async function clearAway(client: KubeClient, namespace: string): Promise<void> {
  const { items } = await client.list(Cluster, { namespace });
  for (const { metadata } of items) await client.delete(Cluster, { namespace, name: metadata.name });
  await until({ what: `clusters in ${namespace} gone`, timeoutMs: 180_000, intervalMs: 200 }, async () => {
    return (await client.list(Cluster, { namespace })).items.length === 0;
  });
  await client.delete(Namespace, { name: namespace });
}
