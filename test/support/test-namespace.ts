import { Cluster, HostedControlPlane, Namespace, Pod, type Resource, Secret } from '../../constructs/api/resources.ts';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import { isNotFound } from '../../reconciler/kube/errors.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';
import { onceWebhooksAnswer } from './cluster-api-webhooks.ts';
import { until } from './until.ts';

const fieldManager = 'test';

/**
 * Label of a namespace: the process that created it, which distinguishes a leftover of another process from a namespace in use.
 */
const processLabel = 'hosted-control-plane.test/process';

/** Creates a namespace with the strictest pod security. It first deletes a namespace of that name that another process left. */
export async function makeNamespace(client: KubeClient, namespace: string): Promise<void> {
  const isOurs = ({ metadata }: KubeObject) =>
    !metadata.deletionTimestamp && metadata.labels?.[processLabel] === String(process.pid);
  const present = await client.find(Namespace, { name: namespace });
  if (present && !isOurs(present)) {
    await endNamespace(client, namespace);
    const isGone = async () => !(await client.find(Namespace, { name: namespace }));
    await until(`namespace ${namespace} of a run before to be gone`, isGone, 180_000);
  }
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted', [processLabel]: String(process.pid) };
  const { apiVersion, kind } = Namespace;
  await client.apply({ apiVersion, kind, metadata: { name: namespace, labels } }, { fieldManager, force: true });
}

/** Deletes a namespace with everything in it: finalizers are removed, and pods are killed. */
export async function endNamespace(client: KubeClient, namespace: string): Promise<void> {
  await client.delete(Namespace, { name: namespace });
  const left = async (resource: Resource) => (await client.list(resource, { namespace })).items;
  // Also those of a Cluster: Cluster API does not finish the deletion of a paused one. And those of Secrets with keys: their operator
  // may have ended.
  for (const resource of [HostedControlPlane, Cluster, Secret]) {
    for (const { metadata } of (await left(resource)).filter((each) => each.metadata.finalizers)) {
      const free = { metadata: { finalizers: null } };
      const name = { namespace, name: metadata.name };
      await onceWebhooksAnswer(() => client.mergePatch(resource, name, free, { fieldManager }).catch(unlessGone));
    }
  }
  const pods = await left(Pod);
  await Promise.all(
    pods.map(({ metadata }) => client.delete(Pod, { namespace, name: metadata.name }, { gracePeriodSeconds: 1 })),
  );
}

function unlessGone(error: unknown): void {
  if (!isNotFound(error)) throw error;
}
