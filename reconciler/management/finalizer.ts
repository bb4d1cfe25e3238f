import { fieldManager, finalizer } from '../../constructs/api/group.ts';
import { HostedControlPlane } from '../../constructs/api/resources.ts';
import type { KubernetesApi } from '../kube/client.ts';
import { isNotFound } from '../kube/errors.ts';
import type { KubeObject } from '../kube/object.ts';
import type { ManagementCluster } from './cache.ts';

/** Nothing may be created before the finalizer is there: what was created could outlive its object otherwise. */
export async function addFinalizer(
  client: KubernetesApi,
  management: ManagementCluster,
  object: KubeObject,
): Promise<KubeObject> {
  const { finalizers = [] } = object.metadata;
  if (finalizers.includes(finalizer)) return object;
  const answer = await setFinalizers(client, object, [...finalizers, finalizer]);
  management.remember(answer);
  return answer;
}

/** Lets go of an object whose control plane is gone. */
export async function removeFinalizer(client: KubernetesApi, object: KubeObject): Promise<void> {
  const others = object.metadata.finalizers?.filter((entry) => entry !== finalizer) ?? [];
  await setFinalizers(client, object, others).catch((error: unknown) => {
    // The watch has not told yet that the object went with our finalizer at the pass before.
    if (!isNotFound(error)) throw error;
  });
}

/** Bound to the version we saw: somebody else's finalizer must not get lost. */
function setFinalizers(client: KubernetesApi, object: KubeObject, finalizers: readonly string[]): Promise<KubeObject> {
  const { name, namespace, resourceVersion } = object.metadata;
  const options = { fieldManager, ...(resourceVersion ? { resourceVersion } : {}) };
  return client.mergePatch(HostedControlPlane, { name, namespace }, { metadata: { finalizers } }, options);
}
