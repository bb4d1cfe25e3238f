import type { PodObject } from '../../../imports/kubernetes.ts';
import { messageOf } from '../../kube/error-message.ts';
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

/** The answer of one pod, or why there is none. */
type PodAnswer<T> =
  | { readonly kind: 'answered'; readonly pod: string; readonly value: T }
  | { readonly kind: 'silent'; readonly pod: string; readonly problem: string };

/**
 * Queries each pod by its address. Callers treat a silent pod as if it had its previous state, because it may return
 * with it.
 */
export function askPods<T>(
  pods: readonly PodObject[],
  ask: (address: string, pod: PodObject) => Promise<T>,
): Promise<PodAnswer<T>[]> {
  return Promise.all(
    pods.map(async (pod): Promise<PodAnswer<T>> => {
      const { name } = pod.metadata;
      const address = pod.status?.podIP;
      if (address === undefined) return { kind: 'silent', pod: name, problem: 'has no address yet' };
      try {
        return { kind: 'answered', pod: name, value: await ask(address, pod) };
      } catch (error) {
        return { kind: 'silent', pod: name, problem: `does not answer (${messageOf(error)})` };
      }
    }),
  );
}
