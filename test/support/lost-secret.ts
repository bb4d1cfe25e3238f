import { pausedAnnotation } from '../../constructs/api/group.ts';
import { HostedControlPlane, Secret } from '../../constructs/api/resources.ts';
import type { KubernetesApi } from '../../reconciler/kube/client.ts';

interface Place {
  readonly namespace: string;
  readonly name: string;
}

/** Loses a Secret that the operator holds: by force, while the control plane is paused. */
export async function loseSecret(
  client: Pick<KubernetesApi, 'delete' | 'mergePatch'>,
  secret: Place,
  controlPlane: string,
): Promise<void> {
  const object = { namespace: secret.namespace, name: controlPlane };
  const test = { fieldManager: 'test' };
  const pause = (value: string | null) =>
    client.mergePatch(HostedControlPlane, object, { metadata: { annotations: { [pausedAnnotation]: value } } }, test);
  await pause('true');
  await client.mergePatch(Secret, secret, { metadata: { finalizers: null } }, test);
  await client.delete(Secret, secret);
  await pause(null);
}
