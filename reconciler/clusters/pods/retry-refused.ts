import type { DaemonSetObject, DeploymentObject, StatefulSetObject } from '../../../imports/kubernetes.ts';
import { podsAcceptedAnnotation } from '../../../constructs/api/group.ts';
import { type Resource, resourceOf } from '../../../constructs/api/resources.ts';
import type { RenderedObject } from '../../../constructs/control-plane/chart.ts';
import { type Workload, workloadPod } from '../../../constructs/pod/workload-pod.ts';
import type { EndpointProbe } from '../exposure/endpoint-probes.ts';
import type { KubeObject } from '../../kube/object.ts';
import { lacksPods, replicaFailures } from './pod-problem.ts';
import type { Warning } from '../management/warnings.ts';

/** A workload that lacks pods because they were refused, and what distinguishes this refusal from an earlier one. */
export interface RefusedWorkload {
  readonly workload: Workload & KubeObject;
  readonly refusal: readonly unknown[];
}

export interface ObservedWorkloads {
  readonly deployments?: readonly DeploymentObject[];
  readonly sets?: readonly StatefulSetObject[];
  /** DaemonSets without a pod that works, for some time. */
  readonly daemonSets?: readonly DaemonSetObject[];
  readonly warnings?: readonly Warning[];
}

/** The workloads whose controllers have failed to create pods, and wait longer before each further attempt. */
export function refusedWorkloads({
  deployments = [],
  sets = [],
  daemonSets = [],
  warnings = [],
}: ObservedWorkloads): RefusedWorkload[] {
  // Messages name another pod after each attempt.
  const since = (workload: DeploymentObject) => replicaFailures(workload).map((one) => one.lastTransitionTime);
  const hasWarning = ({ metadata }: KubeObject) => warnings.some(({ uid }) => uid === metadata.uid);
  return [
    ...deployments.filter((one) => since(one).length > 0).map((one) => refused(one, since(one))),
    ...sets
      .filter((set) => lacksPods(set) && hasWarning(set))
      .map((set) => refused(set, [set.status?.replicas, set.status?.updateRevision])),
    ...daemonSets.filter(lacksScheduled).map((set) => refused(set, [set.status?.currentNumberScheduled])),
  ];
}

function refused(workload: KubeObject, details: readonly unknown[]): RefusedWorkload {
  const { uid, generation } = workload.metadata;
  return { workload, refusal: [uid, generation, ...details] };
}

function lacksScheduled({ metadata, status = {} }: DaemonSetObject): boolean {
  const { observedGeneration = 0, currentNumberScheduled = 0, desiredNumberScheduled = 0 } = status;
  return observedGeneration >= (metadata.generation ?? 0) && currentNumberScheduled < desiredNumberScheduled;
}

/** The API server that refuses the pods. */
export interface PodsApi {
  /** Why it refuses the pod; undefined if it accepts it. Stores nothing. */
  refusal(pod: RenderedObject): Promise<string | undefined>;
  annotate(resource: Resource, workload: KubeObject, annotations: Readonly<Record<string, string>>): Promise<unknown>;
}

/**
 * Lets the controllers of these workloads try again at once when the API server accepts their pods again. They would do so after up to
 * 1,000 s. Asks beside the reconcile, because a webhook may take its time to answer.
 */
export async function retryRefused(
  workloads: readonly RefusedWorkload[],
  { probe, api, now }: { readonly probe: EndpointProbe; readonly api: PodsApi; readonly now: Date },
): Promise<void> {
  if (workloads.length === 0) return;
  const refusals = workloads.map(({ refusal }) => refusal);
  await probe.probe(refusals, async () => {
    let refused: string | undefined;
    for (const { workload } of workloads) {
      const pod = workloadPod(workload);
      if (!pod) continue;
      const words = await api.refusal(pod);
      if (words === undefined)
        await api.annotate(resourceOf(workload), workload, { [podsAcceptedAnnotation]: now.toISOString() });
      else refused ??= words;
    }
    if (refused !== undefined) throw new Error(refused);
  });
}
