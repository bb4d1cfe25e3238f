import type { PodObject } from '../../../imports/kubernetes.ts';
import { Pod } from '../../../constructs/api/resources.ts';
import { type ComponentName, selectorLabels } from '../../../constructs/cluster/labels.ts';
import { hasEnded } from '../../kube/readiness.ts';
import type { ControlPlaneContext } from '../management/view.ts';

/** The pods of a component that may answer requests, read from the API server instead of a watch. */
export async function answeringPods(
  { cluster, writer }: Pick<ControlPlaneContext, 'cluster' | 'writer'>,
  component: ComponentName,
): Promise<PodObject[]> {
  const pods = await writer.readAll<PodObject>(Pod, selectorLabels(cluster.name, component));
  return pods.filter((pod) => !hasEnded(pod));
}
