import type { DaemonSetObject, DeploymentObject, PodObject, StatefulSetObject } from '../../imports/kubernetes.ts';
import { describeObject, type KubeObject } from './object.ts';

/** Whether an object matches its spec, and otherwise one sentence about what is missing. */
export type Readiness =
  | { readonly ready: true }
  | {
      readonly ready: false;
      readonly message: string;
      /** Whether its controller has seen no progress for longer than the object allows. */
      readonly isStuck?: boolean | undefined;
    };

/** Whether a pod has ended, for example by eviction. It never serves again. */
export function hasEnded({ status }: PodObject): boolean {
  return status?.phase === 'Failed' || status?.phase === 'Succeeded';
}

/** Whether a pod is Ready, so that Services route to it. It may be terminating. */
export function isReady({ status }: PodObject): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false;
}

/** Ready when every replica runs the current template and is available, and no old replica exists. */
export function deploymentReadiness(object: KubeObject | undefined): Readiness {
  const deployment: DeploymentObject | undefined = object;
  if (!deployment) return notReady('the Deployment does not exist yet');
  const wanted = deployment.spec?.replicas ?? 1;
  const status = deployment.status ?? {};
  if (isStale(deployment, status.observedGeneration)) return notReady(unseen);
  const progressing = status.conditions?.find(({ type }) => type === 'Progressing');
  const isStuck = progressing?.reason === 'ProgressDeadlineExceeded';
  const { updatedReplicas: updated = 0, replicas = 0, availableReplicas: available = 0 } = status;
  const missing = (message: string): Readiness =>
    isStuck ? { ...notReady(`${message}, without progress for too long`), isStuck } : notReady(message);
  if (updated < wanted) return missing(`${updated} of ${wanted} replicas updated`);
  if (replicas > updated) return missing(`${plural(replicas - updated, 'old replica')} still running`);
  if (available < wanted) return missing(`${available} of ${wanted} replicas available`);
  return { ready: true };
}

/**
 * Ready when every replica runs the current template and is available; for `OnDelete` sets after the last pod was
 * replaced.
 */
export function statefulSetReadiness(object: KubeObject | undefined): Readiness {
  const set: StatefulSetObject | undefined = object;
  if (!set) return notReady('the StatefulSet does not exist yet');
  const wanted = set.spec?.replicas ?? 1;
  const status = set.status ?? {};
  if (isStale(set, status.observedGeneration)) return notReady(unseen);
  const { replicas = 0, availableReplicas: available = 0 } = status;
  if (replicas > wanted) return notReady(`${plural(replicas - wanted, 'surplus replica')} still running`);
  if (available < wanted) return notReady(`${available} of ${wanted} replicas available`);
  const updated = updatedReplicas(status);
  if (updated < wanted) return notReady(`${updated} of ${wanted} replicas updated`);
  return { ready: true };
}

/** Revision of the applied template; undefined until the StatefulSet controller has observed the latest change. */
export function presentRevision(set: StatefulSetObject | undefined): string | undefined {
  if (!set || isStale(set, set.status?.observedGeneration)) return undefined;
  return set.status?.updateRevision;
}

/**
 * Ready when at least one pod is available: the workload works, possibly not everywhere, because pods on an unhealthy
 * node are unavailable. Always true for kinds without pods, and for zero wanted pods.
 */
export function somePodAvailable(object: KubeObject): Readiness {
  const { wanted, available } = podCounts(object);
  if (wanted === 0 || available > 0) return { ready: true };
  const pods =
    wanted === undefined ? 'its controller has not planned its pods yet' : `0 of ${plural(wanted, 'pod')} available`;
  return notReady(`${describeObject(object)}: ${pods}`);
}

function podCounts(object: KubeObject): { readonly wanted: number | undefined; readonly available: number } {
  switch (object.kind) {
    case 'Deployment': {
      const { spec, status }: DeploymentObject = object;
      return { wanted: spec?.replicas ?? 1, available: status?.availableReplicas ?? 0 };
    }
    case 'DaemonSet': {
      const { status = {} }: DaemonSetObject = object;
      const wanted = isStale(object, status.observedGeneration) ? undefined : (status.desiredNumberScheduled ?? 0);
      return { wanted, available: status.numberAvailable ?? 0 };
    }
    default:
      return { wanted: 0, available: 0 };
  }
}

/** Number of these pods that run all their containers, ready or not, and are not terminating. */
export function startedPods(pods: readonly PodObject[]): number {
  return pods.filter(hasStarted).length;
}

function hasStarted(pod: PodObject): boolean {
  if (pod.metadata.deletionTimestamp) return false;
  const containers = pod.status?.containerStatuses ?? [];
  return containers.length > 0 && containers.every(({ state }) => state?.running !== undefined);
}

/** When all pods are updated, the controller merges the two revisions and stops counting updated ones. */
function updatedReplicas(status: NonNullable<StatefulSetObject['status']>): number {
  const isWhole = status.updateRevision !== undefined && status.updateRevision === status.currentRevision;
  return isWhole ? (status.replicas ?? 0) : (status.updatedReplicas ?? 0);
}

const unseen = 'its controller has not observed the latest change yet';

function isStale(object: KubeObject, observedGeneration: number | undefined): boolean {
  return (observedGeneration ?? 0) < (object.metadata.generation ?? 0);
}

function notReady(message: string): Extract<Readiness, { ready: false }> {
  return { ready: false, message };
}

function plural(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`;
}
