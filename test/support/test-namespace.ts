import { Cluster, HostedControlPlane, Namespace, Pod, type Resource } from '../../constructs/api/resources.ts';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import { isNotFound } from '../../reconciler/kube/errors.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';
import { until } from './until.ts';

const fieldManager = 'test';

/** On a namespace: the process that made it, so that what another one has left is told from what this one shares. */
const processLabel = 'hosted-control-plane.test/process';

/** Makes a namespace under the strictest pod security. What another process has left of that name goes first. */
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

/** Has a namespace end with everything in it: finalizers fall, and pods are killed. */
export async function endNamespace(client: KubeClient, namespace: string): Promise<void> {
  await client.delete(Namespace, { name: namespace });
  const left = async (resource: Resource) => (await client.list(resource, { namespace })).items;
  // Of a Cluster, too: Cluster API lets nothing go that is paused.
  for (const resource of [HostedControlPlane, Cluster]) {
    for (const { metadata } of await left(resource)) {
      const free = { metadata: { finalizers: null } };
      await client.mergePatch(resource, { namespace, name: metadata.name }, free, { fieldManager }).catch(unlessGone);
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
