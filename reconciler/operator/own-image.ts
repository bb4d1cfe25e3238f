import { Pod } from '../../constructs/api/resources.ts';
import type { Config } from './config.ts';
import { KubeClient } from '../kube/client.ts';
import type { Connection } from '../kube/config.ts';
import type { KubeObject } from '../kube/object.ts';

interface OwnPod extends KubeObject {
  readonly spec?: { readonly containers?: readonly { readonly image?: string }[] };
}

/**
 * The image of this process, as its installation names it. Pods that restore backups run it too. Undefined outside a
 * cluster.
 */
export async function ownImage(
  connection: Connection,
  { controllerNamespace, podName }: Pick<Config, 'controllerNamespace' | 'podName'>,
): Promise<string | undefined> {
  if (controllerNamespace === undefined || podName === undefined) return undefined;
  const pod = await new KubeClient(connection).get<OwnPod>(Pod, { namespace: controllerNamespace, name: podName });
  return pod.spec?.containers?.[0]?.image;
}
