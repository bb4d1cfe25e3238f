import type { PodObject } from '../../../imports/kubernetes.ts';
import { hasEnded, isReady } from '../../kube/readiness.ts';

/** A kubelet confirms the end of a pod at once. This long after the last moment, the kubelet is unreachable. */
const confirmsWithinMs = 30_000;

/** What a pod says about its node being away, as the end of a sentence that begins with the pod; undefined if it says nothing. */
export function awayOf(pod: PodObject, now: Date): string | undefined {
  const node = pod.spec?.nodeName;
  if (node === undefined || hasEnded(pod)) return undefined;
  const advice = `if that node is off for good, give it the taint node.kubernetes.io/out-of-service=nodeshutdown:NoExecute, or delete the Node`;
  const due = confirmedBy(pod);
  if (due !== undefined) {
    return now < due ? undefined : `stays Terminating, because node ${node} does not confirm its end: ${advice}`;
  }
  const containers = pod.status?.containerStatuses ?? [];
  const wasReady = containers.length > 0 && containers.every(({ ready }) => ready);
  // Its kubelet would have said that the pod is Ready.
  return wasReady && !isReady(pod) ? `is on node ${node}, which does not report: ${advice}` : undefined;
}

/** By when its node should have confirmed the end of a pod; undefined if the pod does not go, or something else holds it. */
export function confirmedBy({ metadata }: PodObject): Date | undefined {
  const { deletionTimestamp, finalizers = [] } = metadata;
  if (deletionTimestamp === undefined || finalizers.length > 0) return undefined;
  return new Date(Date.parse(deletionTimestamp) + confirmsWithinMs);
}
