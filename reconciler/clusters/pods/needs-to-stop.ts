import type { PodObject } from '../../../imports/kubernetes.ts';
import { Deployment, PersistentVolumeClaim, Pod, StatefulSet } from '../../../constructs/api/resources.ts';
import { type RenderedObject, renderControlPlane } from '../../../constructs/control-plane/chart.ts';
import type { HostedCluster } from '../../../constructs/cluster/cluster.ts';
import type { Facts } from '../../../constructs/cluster/facts.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import { type Workload, workloadPod } from '../../../constructs/pod/workload-pod.ts';
import type { Reader } from '../management/view.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { StepNeeds } from '../dry-run/try-step.ts';

const components = ['etcd', 'api-server', 'controller-manager', 'scheduler'] as const;

/**
 * What a step needs that stops a control plane and lets it run again: of each workload that there is, the pods as the spec asks
 * for them now, or by the present template where that cannot be rendered yet.
 * @param creates what the step itself creates meanwhile
 */
export function needsToStop(
  step: StepNeeds['step'],
  { cluster, facts, reader }: { readonly cluster: HostedCluster; readonly facts: Facts; readonly reader: Reader },
  creates: readonly RenderedObject[] = [],
): StepNeeds {
  const { etcd, apiServer, controllerManager, scheduler } = namesOf(cluster.name);
  const present = [
    reader.get<Workload & KubeObject>(StatefulSet, etcd),
    ...[apiServer, controllerManager, scheduler].map((one) => reader.get<Workload & KubeObject>(Deployment, one)),
  ].filter((workload) => workload !== undefined);
  const rendered = components.flatMap((component) => renderControlPlane(cluster, facts, component));
  const pods = present.flatMap((workload) => {
    const wanted: Workload = rendered.find(({ kind, metadata: { name } }) => isNamed(workload, kind, name)) ?? workload;
    const pod = workloadPod(wanted);
    return pod ? [{ pod, replicas: wanted.spec?.replicas ?? 1 }] : [];
  });
  return {
    step,
    creates: [...creates, ...pods.map(({ pod }) => pod)],
    together: [creates, pods.flatMap(({ pod, replicas }) => Array.from({ length: replicas }, () => pod))],
    changes: [Pod, PersistentVolumeClaim, StatefulSet, Deployment],
    ends: components.flatMap((component) => reader.list<PodObject>(Pod, selectorLabels(cluster.name, component))),
  };
}

function isNamed({ kind, metadata }: KubeObject, wanted: string, name: string): boolean {
  return kind === wanted && metadata.name === name;
}
