import { fieldManager, finalizer } from '../../../constructs/api/group.ts';
import { HostedControlPlane } from '../../../constructs/api/resources.ts';
import type { KubernetesApi } from '../../kube/client.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { ManagementCluster } from './cache.ts';

/**
 * Adds the finalizer, which must exist before the operator creates any object. Otherwise objects could outlive their
 * HostedControlPlane.
 */
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

/** Removes the finalizer of an object whose control plane has been deleted. */
export async function removeFinalizer(client: KubernetesApi, object: KubeObject): Promise<void> {
  const others = object.metadata.finalizers?.filter((entry) => entry !== finalizer) ?? [];
  await setFinalizers(client, object, others).catch((error: unknown) => {
    // The previous reconcile removed the finalizer, and the watch has not reported the deletion yet.
    if (!isNotFound(error)) throw error;
  });
}

/** Only for the observed version, so that finalizers of other controllers are not lost. */
function setFinalizers(client: KubernetesApi, object: KubeObject, finalizers: readonly string[]): Promise<KubeObject> {
  const { name, namespace, resourceVersion } = object.metadata;
  const options = { fieldManager, ...(resourceVersion ? { resourceVersion } : {}) };
  return client.mergePatch(HostedControlPlane, { name, namespace }, { metadata: { finalizers } }, options);
}
