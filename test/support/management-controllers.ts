import { createHash } from 'node:crypto';
import { clusterNameLabel } from '../../constructs/api/group.ts';
import {
  Deployment,
  PersistentVolumeClaim,
  Pod,
  Service,
  StatefulSet,
  TLSRoute,
  type Resource,
} from '../../constructs/api/resources.ts';
import { type ComponentName, selectorLabels } from '../../constructs/cluster/labels.ts';
import { acceptedPath } from '../../constructs/control-plane/api-server/check.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';
import type { StoredObject } from './memory-objects.ts';
import { clusterName } from './scope.ts';

/** The address that load balancers get. */
export const loadBalancerAddress = '192.0.2.10';

/** What controllers read and change: the objects of one namespace, wherever they are stored. */
export interface ControlledObjects {
  readonly objects: readonly StoredObject[];
  get<T extends KubeObject>(resource: Resource, name: string): T | undefined;
  list<T extends KubeObject>(resource: Resource, labels: Readonly<Record<string, string>>): T[];
  /** Writes the object if it differs from the stored one. */
  put(object: StoredObject): unknown;
  /** Completes a deletion, or deletes the object. */
  remove(object: KubeObject): void;
}

interface VolumeClaim extends KubeObject {
  readonly spec: { readonly resources: { readonly requests: { readonly storage: string } } };
}

interface Workload extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly updateStrategy?: { readonly type?: string };
    readonly template: {
      readonly metadata: Pick<KubeObject['metadata'], 'labels' | 'annotations'>;
      readonly spec: { readonly containers: readonly { readonly name: string }[] };
    };
    readonly volumeClaimTemplates?: readonly Pick<VolumeClaim, 'metadata' | 'spec'>[];
  };
}

export interface SettleOptions {
  /** Keep the pods of an `OnDelete` set until someone deletes them. By default they are replaced at once. */
  readonly keepsOnDelete?: boolean;
  /** Text in the template of pods that do not start. */
  readonly startsNot?: string | undefined;
}

/** Does at once all that Kubernetes' controllers would do over time: addresses, pods, volumes, rollouts, deletions. */
export function settle(management: ControlledObjects, options: SettleOptions = {}): void {
  for (const object of management.objects) if (object.metadata.deletionTimestamp) management.remove(object);
  for (const service of management.list<StoredObject>(Service, { [clusterNameLabel]: clusterName }))
    giveAddress(management, service);
  for (const route of management.list<StoredObject>(TLSRoute, {}))
    management.put({ ...route, status: { parents: accepted(route) } });
  const pods = new Set<string>();
  for (const resource of [Deployment, StatefulSet]) {
    for (const workload of management.list<Workload & StoredObject>(resource, { [clusterNameLabel]: clusterName })) {
      for (const pod of rollOut(management, workload, options)) pods.add(pod);
    }
  }
  // Pods that restore a backup receive it at once.
  for (const pod of management.list<StoredObject>(Pod, {})) {
    if (isOf('etcd-restore', pod)) management.put({ ...pod, status: { phase: 'Succeeded' } });
    else if (isOf('api-server-check', pod)) endCheck(management, pod);
    else if (!pods.has(pod.metadata.name)) management.remove(pod);
  }
}

function isOf(component: ComponentName, { metadata: { labels = {} } }: KubeObject): boolean {
  return Object.entries(selectorLabels(clusterName, component)).every(([name, value]) => labels[name] === value);
}

/** The kube-apiserver of a check knows every flag but {@link unknownFlag}. */
function endCheck(management: ControlledObjects, pod: StoredObject): void {
  const { containers } = pod['spec'] as { readonly containers: readonly { readonly args: readonly string[] }[] };
  const isRefused = containers[0]?.args.some((arg) => arg.startsWith(`--${unknownFlag}=`));
  const message = isRefused ? `Error: unknown flag: --${unknownFlag}` : acceptingWords;
  const terminated = { exitCode: 1, reason: 'Error', message };
  const containerStatuses = [{ name: 'kube-apiserver', ready: false, state: { terminated } }];
  management.put({ ...pod, status: { phase: 'Failed', containerStatuses } });
}

/** A flag that the kube-apiserver of a check refuses. */
export const unknownFlag = 'nonsense';

/** The last words of a kube-apiserver that accepts its configuration. */
export const acceptingWords = `E1123 07:52:26.161491   15306 run.go:72] "command failed" err="error creating storage factory: open ${acceptedPath}: no such file or directory"`;

function giveAddress(management: ControlledObjects, service: StoredObject): void {
  const balanced = (service['spec'] as { type?: string }).type === 'LoadBalancer';
  management.put({
    ...service,
    spec: { clusterIP: '10.1.2.3', ...(service['spec'] as object) },
    status: balanced ? { loadBalancer: { ingress: [{ ip: loadBalancerAddress }] } } : {},
  });
}

/** The status that a Gateway controller writes to a route that it accepts. */
export function accepted({ metadata, spec }: StoredObject): object[] {
  const { parentRefs } = spec as { readonly parentRefs: readonly object[] };
  const condition = (type: string) => ({ type, status: 'True', observedGeneration: metadata.generation ?? 0 });
  const conditions = [condition('Accepted'), condition('ResolvedRefs')];
  return parentRefs.map((parentRef) => ({ parentRef, controllerName: 'example.org/gateway', conditions }));
}

/** Replaces the pods of a workload by ready ones of its current template; returns their names. */
function rollOut(
  management: ControlledObjects,
  workload: Workload & StoredObject,
  { keepsOnDelete = false, startsNot = `:${missingTag}"` }: SettleOptions,
): string[] {
  const { metadata, spec } = workload;
  const replicas = spec.replicas ?? 1;
  const revision = revisionOf(workload);
  if (JSON.stringify(spec.template).includes(startsNot)) return getStuck(management, workload, revision);
  const pods = Array.from({ length: replicas }, (_, ordinal) => `${metadata.name}-${ordinal}`);
  for (const [ordinal, name] of pods.entries()) {
    const present = management.get<StoredObject>(Pod, name);
    const isKept = keepsOnDelete && spec.updateStrategy?.type === 'OnDelete' && present !== undefined;
    if (!isKept) management.put(podOf(workload, { name, ordinal, revision }, present));
    makeClaims(management, workload, name);
  }
  const updated = pods.filter(
    (name) => management.get(Pod, name)?.metadata.labels?.[revisionLabel] === revision,
  ).length;
  const counts = { replicas, readyReplicas: replicas, availableReplicas: replicas, updatedReplicas: updated };
  const revisions = { updateRevision: revision, currentRevision: updated === replicas ? revision : 'before' };
  const isSet = workload.kind === StatefulSet.kind;
  const status = { observedGeneration: metadata.generation ?? 0, ...counts, ...(isSet ? revisions : {}) };
  management.put({ ...workload, status });
  return pods;
}

/** The tag of an image that no registry has. */
export const missingTag = 'missing';

/** A new pod cannot start, and the old ones stay, for longer than the Deployment allows. */
function getStuck(management: ControlledObjects, workload: Workload & StoredObject, revision: string): string[] {
  const { metadata, spec } = workload;
  const labels = spec.template.metadata.labels ?? {};
  const olds = management.list<StoredObject>(Pod, labels).filter((pod) => pod.metadata.name !== `${metadata.name}-new`);
  const fresh = podOf(workload, { name: `${metadata.name}-new`, ordinal: 9, revision }, undefined);
  const waiting = { reason: 'ImagePullBackOff', message: 'no such tag' };
  const containerStatuses = spec.template.spec.containers.map(({ name }) => ({
    name,
    ready: false,
    state: { waiting },
  }));
  management.put({ ...fresh, status: { conditions: [{ type: 'Ready', status: 'False' }], containerStatuses } });
  const conditions = [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }];
  const counts = {
    replicas: olds.length + 1,
    readyReplicas: olds.length,
    availableReplicas: olds.length,
    updatedReplicas: 1,
  };
  management.put({ ...workload, status: { observedGeneration: metadata.generation ?? 0, ...counts, conditions } });
  return [fresh, ...olds].map((pod) => pod.metadata.name);
}

const revisionLabel = 'controller-revision-hash';

function revisionOf({ metadata, spec }: Workload): string {
  const digest = createHash('sha256').update(JSON.stringify(spec.template)).digest('hex').slice(0, 10);
  return `${metadata.name}-${digest}`;
}

function podOf(
  { spec: { template } }: Workload,
  { name, ordinal, revision }: { readonly name: string; readonly ordinal: number; readonly revision: string },
  present: StoredObject | undefined,
): StoredObject {
  const { labels, annotations } = template.metadata;
  const isSame = present?.metadata.labels?.[revisionLabel] === revision;
  const containerStatuses = template.spec.containers.map((container) => ({
    name: container.name,
    ready: true,
    state: { running: {} },
  }));
  return {
    ...readyPod,
    status: { ...readyPod.status, podIP: `10.244.0.${ordinal + 1}`, containerStatuses },
    metadata: {
      name,
      labels: { ...labels, [revisionLabel]: revision },
      // Annotations that others have set on a pod stay; a pod of another revision is another pod.
      annotations: { ...(isSame ? present?.metadata.annotations : {}), ...annotations },
    },
  };
}

function makeClaims(management: ControlledObjects, { spec }: Workload, pod: string): void {
  for (const { metadata, spec: claimSpec } of spec.volumeClaimTemplates ?? []) {
    const { apiVersion, kind } = PersistentVolumeClaim;
    const name = `${metadata.name}-${pod}`;
    const { labels } = spec.template.metadata;
    const present = management.get<VolumeClaim>(PersistentVolumeClaim, name);
    const wanted = present ?? { apiVersion, kind, metadata: { name, labels }, spec: claimSpec };
    management.put({ ...wanted, status: { phase: 'Bound', capacity: wanted.spec.resources.requests } });
  }
}

const readyPod = {
  apiVersion: Pod.apiVersion,
  kind: Pod.kind,
  spec: { nodeName: 'node-1' },
  status: {
    conditions: [{ type: 'Ready', status: 'True' }],
  },
};
