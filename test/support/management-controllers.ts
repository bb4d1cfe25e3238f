import { clusterNameLabel } from '../../constructs/api/group.ts';
import {
  Deployment,
  PersistentVolumeClaim,
  Pod,
  Service,
  StatefulSet,
  TLSRoute,
} from '../../constructs/api/resources.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';
import type { MemoryWorld, StoredObject } from './memory-world.ts';
import { clusterName } from './scope.ts';

/** The address that load balancers are given. */
export const loadBalancerAddress = '192.0.2.10';

interface Claim extends KubeObject {
  readonly spec: { readonly resources: { readonly requests: { readonly storage: string } } };
}

interface Workload extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly template: {
      readonly metadata: Pick<KubeObject['metadata'], 'labels' | 'annotations'>;
      readonly spec: { readonly containers: readonly { readonly name: string }[] };
    };
    readonly volumeClaimTemplates?: readonly Pick<Claim, 'metadata' | 'spec'>[];
  };
}

/** Does at once all that Kubernetes would do in its own time: addresses, pods, volumes, roll-outs, removals. */
export function settle(world: MemoryWorld): void {
  for (const object of world.objects) if (object.metadata.deletionTimestamp) world.remove(object);
  for (const service of world.list<StoredObject>(Service, { [clusterNameLabel]: clusterName }))
    giveAddress(world, service);
  for (const route of world.list<StoredObject>(TLSRoute, {}))
    world.put({ ...route, status: { parents: accepted(route) } });
  const pods = new Set<string>();
  for (const resource of [Deployment, StatefulSet]) {
    for (const workload of world.list<Workload & StoredObject>(resource, { [clusterNameLabel]: clusterName })) {
      for (const pod of rollOut(world, workload)) pods.add(pod);
    }
  }
  for (const pod of world.list(Pod, {})) if (!pods.has(pod.metadata.name)) world.remove(pod);
}

function giveAddress(world: MemoryWorld, service: StoredObject): void {
  const balanced = (service['spec'] as { type?: string }).type === 'LoadBalancer';
  world.put({
    ...service,
    spec: { ...(service['spec'] as object), clusterIP: '10.1.2.3' },
    status: balanced ? { loadBalancer: { ingress: [{ ip: loadBalancerAddress }] } } : {},
  });
}

/** What a Gateway's controller says of a route that it accepts. */
export function accepted({ metadata, spec }: StoredObject): object[] {
  const { parentRefs } = spec as { readonly parentRefs: readonly object[] };
  const condition = (type: string) => ({ type, status: 'True', observedGeneration: metadata.generation ?? 0 });
  const conditions = [condition('Accepted'), condition('ResolvedRefs')];
  return parentRefs.map((parentRef) => ({ parentRef, controllerName: 'example.org/gateway', conditions }));
}

/** Replaces the pods of a workload by ready ones of its present template; returns their names. */
function rollOut(world: MemoryWorld, workload: Workload & StoredObject): string[] {
  const { metadata, spec } = workload;
  const replicas = spec.replicas ?? 1;
  const pods = Array.from({ length: replicas }, (_, ordinal) => `${metadata.name}-${ordinal}`);
  const { labels, annotations } = spec.template.metadata;
  const containerStatuses = spec.template.spec.containers.map(({ name }) => ({
    name,
    ready: true,
    state: { running: {} },
  }));
  for (const [ordinal, name] of pods.entries()) {
    world.put({
      ...readyPod,
      status: { ...readyPod.status, podIP: `10.244.0.${ordinal + 1}`, containerStatuses },
      // What somebody else has noted on a pod stays there.
      metadata: { name, labels, annotations: { ...world.get(Pod, name)?.metadata.annotations, ...annotations } },
    });
    for (const claim of spec.volumeClaimTemplates ?? []) {
      const { apiVersion, kind } = PersistentVolumeClaim;
      const present = world.get<Claim>(PersistentVolumeClaim, `${claim.metadata.name}-${name}`);
      const wanted = present ?? {
        apiVersion,
        kind,
        metadata: { name: `${claim.metadata.name}-${name}`, labels },
        spec: claim.spec,
      };
      world.put({ ...wanted, status: { phase: 'Bound', capacity: wanted.spec.resources.requests } });
    }
  }
  const counts = { replicas, readyReplicas: replicas, availableReplicas: replicas, updatedReplicas: replicas };
  world.put({ ...workload, status: { observedGeneration: metadata.generation ?? 0, ...counts } });
  return pods;
}

const readyPod = {
  apiVersion: Pod.apiVersion,
  kind: Pod.kind,
  status: {
    conditions: [{ type: 'Ready', status: 'True' }],
  },
};
