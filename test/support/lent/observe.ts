import type { PodObject } from '../../../imports/kubernetes.ts';
import { usuallyFalse } from '../../../constructs/api/conditions.ts';
import {
  Cluster,
  ConfigMap,
  DaemonSet,
  Deployment,
  HostedControlPlane,
  Namespace,
  Node,
  Pod,
  Role,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
} from '../../../constructs/api/resources.ts';
import { clusterNameLabel } from '../../../constructs/api/group.ts';
import type { KubeClient } from '../../../reconciler/kube/client.ts';
import { type KubeObject, objectKey } from '../../../reconciler/kube/object.ts';
import { controlPlaneKinds, type Workbench } from '../workbench.ts';
import type { LentState, PodState } from './return-faults.ts';

const managementKinds = [...controlPlaneKinds, ServiceAccount, Role, RoleBinding, HostedControlPlane, Cluster];
const hostedKinds = [ConfigMap, Secret, Service, ServiceAccount, Deployment, DaemonSet, Pod];
const hostedNamespaces = ['default', 'kube-system'];
/** Conditions that are False on a control plane that is well. */

/** Observes what a borrower may not leave changed. */
export async function observeLent(bench: Workbench, cluster: string, hosted: KubeClient): Promise<LentState> {
  const [controlPlane, object, management, inside, pods] = await Promise.all([
    bench.get(cluster),
    bench.client.get<KubeObject & { readonly spec: Readonly<Record<string, unknown>> }>(Cluster, {
      namespace: bench.namespace,
      name: cluster,
    }),
    managementObjects(bench, cluster),
    hostedObjects(hosted),
    podStates(bench, cluster),
  ]);
  const { metadata, spec, status } = controlPlane;
  const conditions = status?.conditions ?? [];
  const ready = conditions.find(({ type }) => type === 'Ready');
  return {
    spec,
    clusterSpec: object.spec,
    annotations: Object.keys(metadata.annotations ?? {}).toSorted(),
    records: (['backup', 'lastVerifiedBackup'] as const).filter((name) => status?.etcd?.[name] !== undefined),
    wrong: [
      // Cluster API copies it from the control plane, after that is Ready
      ...(object.spec['controlPlaneEndpoint'] === undefined ? ['its Cluster has no endpoint'] : []),
      ...(ready?.observedGeneration === metadata.generation ? [] : ['Ready is not of its newest generation']),
      ...conditions
        .filter(({ type, status: value }) => value !== (usuallyFalse.some((one) => one === type) ? 'False' : 'True'))
        .map(({ type, status: value, reason, message }) => `${type} is ${value}, ${reason}: ${message}`),
    ],
    management,
    hosted: inside,
    pods,
  };
}

async function managementObjects({ client, namespace }: Workbench, cluster: string): Promise<string[]> {
  const lists = await Promise.all(managementKinds.map((kind) => client.list(kind, { namespace })));
  // the recorded states of a control plane are numbered, and each change of its spec has another one
  const nameOf = (name: string) => name.replace(new RegExp(`^${cluster}-revision-\\d+$`), `${cluster}-revision`);
  const names = lists.flatMap(({ items }) =>
    items.filter(isOwnWork).map(({ kind, metadata }) => `${kind} ${nameOf(metadata.name)}${ownerOf(metadata)}`),
  );
  return [...new Set(names)].toSorted();
}

async function hostedObjects(hosted: KubeClient): Promise<string[]> {
  const within = hostedNamespaces.flatMap((namespace) => hostedKinds.map((kind) => hosted.list(kind, { namespace })));
  const lists = await Promise.all([...within, hosted.list(Namespace), hosted.list(Node)]);
  const objects = lists.flatMap(({ items }) => items).filter((object) => isOwnWork(object) && !isOfKubernetes(object));
  return objects.map(({ kind, metadata }) => `${kind} ${objectKey(metadata)}`).toSorted();
}

/** What would be deleted with something else, and what would stay. */
function ownerOf({ ownerReferences = [] }: KubeObject['metadata']): string {
  return ownerReferences.map(({ kind }) => ` of a ${kind}`).join('');
}

/**
 * Not what a controller has made of another object: its pods have other names each time. And not the rights of the borrower's operator,
 * which end with it.
 */
function isOwnWork({ metadata }: KubeObject): boolean {
  if (metadata.name.startsWith('test:')) return false;
  const controller = metadata.ownerReferences?.find((owner) => owner.controller);
  return controller === undefined || controller.kind === HostedControlPlane.kind;
}

/** What Kubernetes creates by itself, sooner or later, and the tokens of workers that have joined, which it deletes. */
function isOfKubernetes({ kind, metadata }: KubeObject): boolean {
  if (metadata.name.startsWith('bootstrap-token-')) return true;
  if (kind === ServiceAccount.kind) return metadata.namespace === 'kube-system' || metadata.name === 'default';
  return ['kube-root-ca.crt', 'kube-apiserver-legacy-service-account-token-tracking'].includes(metadata.name);
}

/** Without those that end: the one that a rollout has replaced may take half a minute, and the next file may have begun. */
async function podStates({ client, namespace }: Workbench, cluster: string): Promise<PodState[]> {
  const labelSelector = `${clusterNameLabel}=${cluster}`;
  const { items } = await client.list<PodObject>(Pod, { namespace, labelSelector });
  const staying = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return staying.map(({ metadata, status }) => ({
    name: metadata.name,
    uid: metadata.uid ?? '',
    restarts: (status?.containerStatuses ?? []).reduce((sum, { restartCount = 0 }) => sum + restartCount, 0),
  }));
}
