import type { HostedControlPlaneSpec } from '../../../constructs/api/hosted-control-plane.ts';
import { Deployment, Namespace, ServiceAccount, StatefulSet } from '../../../constructs/api/resources.ts';
import { type RenderedObject, renderControlPlane } from '../../../constructs/control-plane/chart.ts';
import { type HostedCluster, networkOf } from '../../../constructs/cluster/cluster.ts';
import { ports } from '../../../constructs/cluster/ports.ts';
import type { KubeClient } from '../../../reconciler/kube/client.ts';
import { resultsOf, settleAll } from '../../../reconciler/kube/concurrency.ts';
import { deploymentReadiness, statefulSetReadiness } from '../../../reconciler/kube/readiness.ts';
import { withPodStates } from '../../support/pod-states.ts';
import { hostedClient } from '../../support/hosted-client.ts';
import { until } from '../testbed/progress.ts';
import { issueSecrets } from './issued-secrets.ts';

const fieldManager = 'bench';
const cluster = 'floor';

/** Namespace of the floor; nothing else is there. */
export const floorNamespace = 'bench-floor';

/** The baseline: everything rendered and every Secret created in advance. */
export interface Floor {
  readonly objects: readonly RenderedObject[];
  /** Of the hosted cluster's administrator. */
  readonly kubeconfig: string;
}

/** Renders the control plane of a spec, creates its Secrets, and applies namespace and Secrets. */
export async function prepareFloor(client: KubeClient, spec: HostedControlPlaneSpec, address: string): Promise<Floor> {
  const endpoint = { host: address, port: ports.api };
  const hosted: HostedCluster = {
    name: cluster,
    namespace: floorNamespace,
    network: networkOf({ services: { cidrBlocks: ['10.128.0.0/16'] } }),
    spec: { ...spec, exposure: { loadBalancer: { port: ports.api, loadBalancerIP: address } } },
  };
  const { objects: secrets, facts, kubeconfig } = await issueSecrets(hosted, endpoint);

  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  const { apiVersion, kind } = Namespace;
  await client.apply({ apiVersion, kind, metadata: { name: floorNamespace, labels } }, { fieldManager, force: true });
  for (const secret of secrets) await client.apply(secret, { fieldManager, force: true });
  return { objects: renderControlPlane(hosted, { ...facts, advertiseAddress: address }), kubeconfig };
}

/** Applies all objects at once; milliseconds until every workload is ready, and the kubeconfig and the controllers work. */
export async function measureFloor(client: KubeClient, floor: Floor): Promise<number> {
  const start = performance.now();
  resultsOf(await settleAll(floor.objects, 8, (object) => client.apply(object, { fieldManager, force: true })));
  await withPodStates(client, floorNamespace, () =>
    Promise.all([untilUsable(floor.kubeconfig), untilRolledOut(client)]),
  );
  return performance.now() - start;
}

/**
 * Resolves when a kubeconfig and the hosted controllers work: the `default` service account exists.
 * @param onAnswer called when the kubeconfig works
 */
export async function untilUsable(kubeconfig: string, onAnswer: () => void = () => {}): Promise<void> {
  const hosted = hostedClient(kubeconfig);
  const wait = { timeoutMs: 180_000, intervalMs: 100 };
  try {
    await until({ ...wait, what: 'the hosted API server' }, async () => (await hosted.raw('/readyz')) !== undefined);
    onAnswer();
    await until({ ...wait, what: 'the hosted controllers' }, async () => {
      return (await hosted.find(ServiceAccount, { namespace: 'default', name: 'default' })) !== undefined;
    });
  } finally {
    await hosted.connection.close();
  }
}

async function untilRolledOut(client: KubeClient): Promise<void> {
  const namespace = floorNamespace;
  await until({ what: 'all workloads of the floor', timeoutMs: 180_000, intervalMs: 100 }, async () => {
    const [deployments, sets] = await Promise.all([
      client.list(Deployment, { namespace }),
      client.list(StatefulSet, { namespace }),
    ]);
    return (
      deployments.items.every((d) => deploymentReadiness(d).ready) &&
      sets.items.every((s) => statefulSetReadiness(s).ready)
    );
  });
}

/** Takes it down in an order in which no API server waits for its etcd. */
export async function removeFloor(client: KubeClient): Promise<void> {
  const namespace = floorNamespace;
  for (const resource of [Deployment, StatefulSet]) {
    const { items } = await client.list(resource, { namespace });
    for (const { metadata } of items) {
      await client.delete(resource, { namespace, name: metadata.name }, { propagationPolicy: 'Foreground' });
    }
    await until({ what: `${resource.kind}s of the floor gone`, timeoutMs: 120_000, intervalMs: 100 }, async () => {
      return (await client.list(resource, { namespace })).items.length === 0;
    });
  }
  await client.delete(Namespace, { name: namespace });
  await until({ what: `namespace ${namespace} gone`, timeoutMs: 120_000, intervalMs: 200 }, async () => {
    return !(await client.find(Namespace, { name: namespace }));
  });
}
