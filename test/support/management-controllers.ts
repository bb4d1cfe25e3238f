import { createHash } from 'node:crypto';
import { clusterNameLabel } from '../../constructs/api/group.ts';
import {
  Deployment,
  Event,
  PersistentVolumeClaim,
  Pod,
  Service,
  StatefulSet,
  TLSRoute,
  type Resource,
} from '../../constructs/api/resources.ts';
import { componentLabel, type ComponentName } from '../../constructs/cluster/labels.ts';
import { acceptedPath } from '../../constructs/control-plane/api-server/check.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';
import type { StoredObject } from './memory-objects.ts';
import { usesClaim } from './memory-cluster/controllers/claim-protection.ts';
import { clusterName } from './scope.ts';

/** The address that load balancers get. */
export const loadBalancerAddress = '192.0.2.10';

/** What controllers read and change: the objects of one namespace, wherever they are stored. */
export interface ControlledObjects {
  readonly objects: readonly StoredObject[];
  get<T extends KubeObject>(resource: Resource, name: string): T | undefined;
  list<T extends KubeObject>(resource: Resource, labels: Readonly<Record<string, string>>): T[];
  /** Writes the object if it differs from the stored one. @throws if it is new and the API server refuses it */
  put(object: StoredObject): unknown;
  /** In which words the API server would refuse to create the object; undefined if it would not. */
  refusal(object: StoredObject): string | undefined;
  /** Completes a deletion, or deletes the object. */
  remove(object: KubeObject): void;
}

interface PodIdentity {
  readonly name: string;
  readonly ordinal: number;
  readonly revision: string;
  /** Whether its image cannot be pulled. */
  readonly isStuck: boolean;
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
      readonly spec: {
        readonly containers: readonly { readonly name: string }[];
        readonly volumes?: readonly object[];
      };
    };
    readonly volumeClaimTemplates?: readonly Pick<VolumeClaim, 'metadata' | 'spec'>[];
  };
}

export interface SettleOptions {
  /** The Cluster whose workloads have pods; those of others stay as they are. By default the sample. */
  readonly cluster?: string;
  /** The address that its load balancers get. By default {@link loadBalancerAddress}. */
  readonly address?: string;
  /** Keep the pods of an `OnDelete` set until someone deletes them. By default they are replaced at once. */
  readonly keepsOnDelete?: boolean;
  /**
   * The workloads whose pods were refused, as they were then: their controllers wait in their back-off until the workload changes. By default
   * they try at once.
   */
  readonly inBackOff?: Map<string, { readonly of: string; readonly refusal: string }> | undefined;
  /** Text in the template of pods that do not start. */
  readonly startsNot?: string | undefined;
  /** Of pods with this text in their name no probe finds a node. */
  readonly unplaced?: string | undefined;
}

/** Does at once all that Kubernetes' controllers would do over time: addresses, pods, volumes, rollouts, deletions. */
export function settle(management: ControlledObjects, options: SettleOptions = {}): void {
  const { cluster = clusterName, address = loadBalancerAddress } = options;
  const isClaim = ({ kind }: KubeObject): boolean => kind === PersistentVolumeClaim.kind;
  for (const object of management.objects)
    if (object.metadata.deletionTimestamp && !isClaim(object) && !isAway(object)) management.remove(object);
  for (const service of management.list<StoredObject>(Service, { [clusterNameLabel]: cluster }))
    giveAddress(management, service, address);
  for (const route of management.list<StoredObject>(TLSRoute, {}))
    management.put({ ...route, status: { parents: accepted(route) } });
  const pods = new Set<string>();
  for (const resource of [Deployment, StatefulSet]) {
    for (const workload of management.list<Workload & StoredObject>(resource, { [clusterNameLabel]: cluster })) {
      for (const pod of rollOut(management, workload, options)) pods.add(pod);
    }
  }
  // Pods that restore a backup receive it at once.
  for (const pod of management.list<StoredObject>(Pod, { [clusterNameLabel]: cluster })) {
    if (isOf('etcd-restore', pod)) management.put({ ...pod, status: { phase: 'Succeeded' } });
    else if (isOf('api-server-check', pod)) endCheck(management, pod);
    else if (isOf('etcd-probe', pod)) schedule(management, pod, options);
    else if (!pods.has(pod.metadata.name)) endPod(management, pod);
  }
  for (const claim of management.list<StoredObject>(PersistentVolumeClaim, {})) {
    const { deletionTimestamp, name } = claim.metadata;
    if (deletionTimestamp && !management.list(Pod, {}).some((pod) => usesClaim(pod, name))) management.remove(claim);
  }
}

function isOf(component: ComponentName, { metadata: { labels = {} } }: KubeObject): boolean {
  return labels[componentLabel] === component;
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

/** No node has a label. */
function schedule(management: ControlledObjects, pod: StoredObject, { unplaced }: SettleOptions): void {
  const { nodeSelector = {} } = pod['spec'] as { readonly nodeSelector?: object };
  const isFull = unplaced !== undefined && pod.metadata.name.startsWith(unplaced);
  const isRefused = isFull || Object.keys(nodeSelector).length > 0;
  const words = "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.";
  const decision = isRefused ? { status: 'False', reason: 'Unschedulable', message: words } : { status: 'True' };
  management.put({ ...pod, status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', ...decision }] } });
}

/** A flag that the kube-apiserver of a check refuses. */
export const unknownFlag = 'nonsense';

/** The last words of a kube-apiserver that accepts its configuration. */
export const acceptingWords = `E1123 07:52:26.161491   15306 run.go:72] "command failed" err="error creating storage factory: open ${acceptedPath}: no such file or directory"`;

function giveAddress(management: ControlledObjects, service: StoredObject, ip: string): void {
  const balanced = (service['spec'] as { type?: string }).type === 'LoadBalancer';
  management.put({
    ...service,
    spec: { clusterIP: '10.1.2.3', ...(service['spec'] as object) },
    status: balanced ? { loadBalancer: { ingress: [{ ip }] } } : {},
  });
}

/** The status that a Gateway controller writes to a route that it accepts. */
export function accepted({ metadata, spec }: StoredObject): object[] {
  const { parentRefs } = spec as { readonly parentRefs: readonly object[] };
  const condition = (type: string) => ({ type, status: 'True', observedGeneration: metadata.generation ?? 0 });
  const conditions = [condition('Accepted'), condition('ResolvedRefs')];
  return parentRefs.map((parentRef) => ({ parentRef, controllerName: 'example.org/gateway', conditions }));
}

/** Replaces the pods of a workload by ready ones of its current template, as far as they are admitted; returns their names. */
function rollOut(
  management: ControlledObjects,
  workload: Workload & StoredObject,
  { keepsOnDelete = false, startsNot = `:${missingTag}"`, inBackOff }: SettleOptions,
): string[] {
  const { metadata, spec } = workload;
  const stranded = management.list(Pod, spec.template.metadata.labels ?? {}).filter(isAway);
  if (stranded.length > 0) return wait(management, workload, stranded);
  const replicas = spec.replicas ?? 1;
  const revision = revisionOf(workload);
  const isStuck = JSON.stringify(spec.template).includes(startsNot);
  if (isStuck && !isSet(workload)) return getStuck(management, workload, revision);
  const names = Array.from({ length: replicas }, (_, ordinal) => `${metadata.name}-${ordinal}`);
  const asItIs = JSON.stringify([metadata.uid, metadata.annotations, spec]);
  const before = inBackOff?.get(metadata.name);
  let refusal = before?.of === asItIs ? before.refusal : undefined;
  const tries = refusal === undefined;
  for (const [ordinal, name] of names.entries()) {
    const present = management.get<StoredObject>(Pod, name);
    const isKept = keepsOnDelete && spec.updateStrategy?.type === 'OnDelete' && present !== undefined;
    // A claim that has grown is resized under the pod that uses it.
    if (isKept) makeClaims(management, workload, name);
    else if (tries || present)
      refusal =
        makePod(management, workload, podOf(workload, { name, ordinal, revision, isStuck }, present)) ?? refusal;
  }
  if (refusal === undefined) inBackOff?.delete(metadata.name);
  else inBackOff?.set(metadata.name, { of: asItIs, refusal });
  const pods = names.flatMap((name) => management.get(Pod, name) ?? []);
  const updated = pods.filter((pod) => revisionIn(pod) === revision).length;
  const ready = pods.filter((pod) => !startsNever(pod)).length;
  const counts = {
    replicas: pods.length,
    readyReplicas: ready,
    availableReplicas: ready,
    updatedReplicas: updated,
  };
  const revisions = { updateRevision: revision, currentRevision: updated === replicas ? revision : 'before' };
  const status = {
    observedGeneration: metadata.generation ?? 0,
    ...counts,
    ...(isSet(workload) ? revisions : {}),
    ...(refusal !== undefined && !isSet(workload) ? { conditions: [replicaFailure(refusal)] } : {}),
  };
  management.put({ ...workload, status });
  return pods.map((pod) => pod.metadata.name);
}

function isSet({ kind }: KubeObject): boolean {
  return kind === StatefulSet.kind;
}

/** Makes a pod of a workload, or leaves the one of its name when the API server refuses the new one. @returns why it does */
function makePod(
  management: ControlledObjects,
  workload: Workload & StoredObject,
  pod: StoredObject,
): string | undefined {
  const { name } = pod.metadata;
  const present = management.get(Pod, name);
  const isNew = !present || revisionIn(present) !== revisionIn(pod);
  // A Deployment makes the new pod before it deletes the old one, a StatefulSet the other way round.
  if (present && isNew && isSet(workload)) management.remove(present);
  const refused = makeClaims(management, workload, name) ?? (isNew ? management.refusal(pod) : undefined);
  if (refused === undefined) {
    if (present && isNew) management.remove(present);
    management.put(pod);
  } else if (isSet(workload)) {
    reportFailure(
      management,
      workload,
      `Create Pod ${name} in StatefulSet ${workload.metadata.name} failed error: ${refused}`,
    );
  }
  return refused;
}

function replicaFailure(message: string): object {
  return { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message };
}

/** The StatefulSet controller only reports by events. */
function reportFailure(
  management: ControlledObjects,
  { apiVersion, kind, metadata }: Workload & StoredObject,
  note: string,
) {
  management.put({
    apiVersion: Event.apiVersion,
    kind: Event.kind,
    metadata: { name: `${metadata.name}.failed-create` },
    regarding: { apiVersion, kind, name: metadata.name, uid: metadata.uid },
    type: 'Warning',
    reason: 'FailedCreate',
    note,
    deprecatedSource: { component: 'statefulset-controller' },
  });
}

/** Whether it is a pod whose image cannot be pulled. */
export function startsNever(pod: KubeObject): boolean {
  const { containerStatuses = [] } = ((pod as StoredObject)['status'] ?? {}) as {
    containerStatuses?: readonly { state?: { waiting?: object } }[];
  };
  return containerStatuses.some(({ state }) => state?.waiting !== undefined);
}

const silentNode = 'NodeStatusUnknown';

/** Whether it is a pod whose node does not report. */
export function isAway(pod: KubeObject): boolean {
  const { conditions = [] } = ((pod as StoredObject)['status'] ?? {}) as {
    conditions?: readonly { reason?: string }[];
  };
  return conditions.some(({ reason }) => reason === silentNode);
}

/** The node of a pod does not report any more: the pod is Unready, and nothing confirms its end. */
export function loseNode(management: ControlledObjects, pod: StoredObject): void {
  const conditions = [{ type: 'Ready', status: 'False', reason: silentNode }];
  management.put({ ...pod, status: { ...(pod['status'] as object), conditions } });
}

/** The nodes of all pods report again. */
export function findNodes(management: ControlledObjects): void {
  for (const pod of management.list<StoredObject>(Pod, {}).filter(isAway))
    management.put({ ...pod, status: { ...(pod['status'] as object), ...readyPod.status } });
}

/** Nothing takes the place of a pod before its node says that it has ended. */
function endPod(management: ControlledObjects, pod: StoredObject): void {
  if (!isAway(pod)) return management.remove(pod);
  const deletionTimestamp = pod.metadata.deletionTimestamp ?? pod.metadata.creationTimestamp ?? '';
  management.put({ ...pod, metadata: { ...pod.metadata, deletionTimestamp } });
}

/** No pod takes the place of those whose node does not report. */
function wait(management: ControlledObjects, workload: Workload & StoredObject, pods: readonly KubeObject[]): string[] {
  const counts = { replicas: pods.length, readyReplicas: 0, availableReplicas: 0 };
  const { generation: observedGeneration = 0 } = workload.metadata;
  management.put({ ...workload, status: { ...(workload['status'] as object), observedGeneration, ...counts } });
  return pods.map(({ metadata }) => metadata.name);
}

/** The tag of an image that no registry has. */
export const missingTag = 'missing';

/** A new pod cannot start, and the old ones stay, for longer than the Deployment allows. */
function getStuck(management: ControlledObjects, workload: Workload & StoredObject, revision: string): string[] {
  const { metadata, spec } = workload;
  const labels = spec.template.metadata.labels ?? {};
  const olds = management.list<StoredObject>(Pod, labels).filter((pod) => pod.metadata.name !== `${metadata.name}-new`);
  const fresh = podOf(workload, { name: `${metadata.name}-new`, ordinal: 9, revision, isStuck: true }, undefined);
  management.put(fresh);
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

function revisionIn({ metadata }: KubeObject): string | undefined {
  return metadata.labels?.[revisionLabel];
}

function podOf(
  { spec: { template, volumeClaimTemplates = [] } }: Workload,
  { name, ordinal, revision, isStuck }: PodIdentity,
  present: StoredObject | undefined,
): StoredObject {
  const { labels, annotations } = template.metadata;
  const isSame = present !== undefined && revisionIn(present) === revision;
  const containerStatuses = template.spec.containers.map((container) => ({
    name: container.name,
    ready: !isStuck,
    state: isStuck ? { waiting: { reason: 'ImagePullBackOff', message: 'no such tag' } } : { running: {} },
  }));
  const claims = volumeClaimTemplates.map(({ metadata }) => ({
    name: metadata.name,
    persistentVolumeClaim: { claimName: `${metadata.name}-${name}` },
  }));
  return {
    ...readyPod,
    // Admission completes the spec of a pod once.
    spec: (isSame ? present?.['spec'] : undefined) ?? {
      ...template.spec,
      volumes: [...(template.spec.volumes ?? []), ...claims],
      ...readyPod.spec,
    },
    status: {
      conditions: isStuck ? [{ type: 'Ready', status: 'False' }] : readyPod.status.conditions,
      podIP: `10.244.0.${ordinal + 1}`,
      containerStatuses,
    },
    metadata: {
      name,
      labels: { ...labels, [revisionLabel]: revision },
      // Annotations that others have set on a pod stay; a pod of another revision is another pod.
      annotations: { ...(isSame ? present?.metadata.annotations : {}), ...annotations },
    },
  };
}

/** The volume claims of a pod. @returns why it cannot have them */
function makeClaims(management: ControlledObjects, { spec }: Workload, pod: string): string | undefined {
  for (const { metadata, spec: claimSpec } of spec.volumeClaimTemplates ?? []) {
    const { apiVersion, kind } = PersistentVolumeClaim;
    const name = `${metadata.name}-${pod}`;
    const { labels } = spec.template.metadata;
    const present = management.get<VolumeClaim & StoredObject>(PersistentVolumeClaim, name);
    const wanted = present ?? { apiVersion, kind, metadata: { name, labels }, spec: claimSpec };
    const refused = present ? undefined : management.refusal(wanted);
    if (refused !== undefined) return refused;
    management.put({ ...wanted, status: { phase: 'Bound', capacity: wanted.spec.resources.requests } });
    if (present?.metadata.deletionTimestamp && !management.get(Pod, pod)) return `pvc ${name} is being deleted`;
  }
  return undefined;
}

const readyPod = {
  apiVersion: Pod.apiVersion,
  kind: Pod.kind,
  spec: { nodeName: 'node-1' },
  status: {
    conditions: [{ type: 'Ready', status: 'True' }],
  },
};
