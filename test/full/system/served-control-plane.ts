import { HostedControlPlane } from '../../../constructs/api/resources.ts';
import type { KubeClient } from '../../../reconciler/kube/client.ts';
import type { KubeObject, ObjectName } from '../../../reconciler/kube/object.ts';

/** Reports, in the place of the operator, that a control plane runs what its spec says. */
export async function serveControlPlane(client: KubeClient, name: ObjectName): Promise<void> {
  const { spec } = await client.get<KubeObject & { spec: { version: string; replicas: number } }>(
    HostedControlPlane,
    name,
  );
  const { version, replicas } = spec;
  const status = {
    initialization: { controlPlaneInitialized: true },
    version,
    replicas,
    readyReplicas: replicas,
    availableReplicas: replicas,
    upToDateReplicas: replicas,
  };
  const options = { fieldManager: 'test', subresource: 'status' };
  await client.mergePatch(HostedControlPlane, name, { status }, options);
}
