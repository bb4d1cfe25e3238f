import type { PodObject } from '../../imports/kubernetes.ts';
import { Pod } from '../../constructs/api/resources.ts';
import type { Config } from './config.ts';
import { KubeClient } from '../kube/client.ts';
import type { Connection } from '../kube/config.ts';

/**
 * The image of this process, as its installation names it. Pods that restore backups run it too. Undefined outside a
 * cluster.
 */
export async function ownImage(
  connection: Connection,
  { controllerNamespace, podName }: Pick<Config, 'controllerNamespace' | 'podName'>,
): Promise<string | undefined> {
  if (controllerNamespace === undefined || podName === undefined) return undefined;
  const pod = await new KubeClient(connection).get<PodObject>(Pod, { namespace: controllerNamespace, name: podName });
  return pod.spec?.containers?.[0]?.image;
}
