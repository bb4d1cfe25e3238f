import { pausedAnnotation } from '../../constructs/api/group.ts';
import { nearestName } from '../../constructs/api/nearest-name.ts';
import { Cluster, HostedControlPlane } from '../../constructs/api/resources.ts';
import { maxClusterNameLength } from '../../constructs/cluster/names.ts';
import { type SpecSources, type UsableSpec, usableSpec } from '../desired-state/usable-spec.ts';
import { adviceOnMove } from '../etcd/formation.ts';
import type { KubeObject, ObjectMeta } from '../kube/object.ts';
import type { ClusterObject } from '../../imports/cluster-api.ts';
import type { ManagementCluster } from '../clusters/management/cache.ts';
import type { HostedControlPlaneObject } from '../clusters/management/hosted-control-plane-object.ts';
import { owningCluster } from '../clusters/management/owning-cluster.ts';
import type { RecordedRevisions } from '../desired-state/revision/believed.ts';

/** What the operator may do for a HostedControlPlane. */
export type Admission =
  /** The operator creates nothing before Cluster API has set the owner. */
  | { readonly kind: 'unowned'; readonly message: string }
  /** Its Cluster refers to another control plane. */
  | { readonly kind: 'mismatch'; readonly message: string }
  /** The operator writes nothing but the condition Paused, and an event when that changes. */
  | { readonly kind: 'paused'; readonly message: string }
  /** Not all objects of its namespace are known, and what is missing may exist. What runs beside reconciles goes on. */
  | { readonly kind: 'crowded'; readonly message: string }
  | Deleting
  | { readonly kind: 'invalid'; readonly message: string }
  | Admitted;

/** The operator deletes the control plane once no workers are left. */
export interface Deleting {
  readonly kind: 'deleting';
  readonly cluster: string | undefined;
  readonly clusterIsGone: boolean;
  /** How the operator reconciles it for its workers until then, as if it were not deleted; undefined if it does not. */
  readonly attended?: Admitted | undefined;
}

/** The operator reconciles everything, by the newest spec or, while that one is refused, by the last accepted one. */
export interface Admitted extends UsableSpec {
  readonly kind: 'admitted';
  readonly clusterObject: ClusterObject;
}

/** What the operator knows besides the object. */
export interface Known extends Pick<SpecSources, 'findComponentTemplate' | 'chooseRelease'> {
  /** Why not all objects of its namespace are known. @default all are */
  readonly crowded?: string | undefined;
  readonly findCluster: (namespace: string, name: string) => ClusterObject | undefined;
  /** The Clusters of a namespace whose control plane does not exist. */
  readonly findWithoutControlPlane: (namespace: string) => readonly ClusterObject[];
  readonly findRevisions: (object: KubeObject, cluster: string) => RecordedRevisions;
}

/**
 * Decides what the operator may do. A pause takes precedence over everything, including deletion. A deletion needs no
 * valid spec, so that every object can be deleted.
 */
export function admit(object: KubeObject, known: Known): Admission {
  const { metadata } = object;
  const owner = owningCluster(metadata);
  const cluster = owner === undefined ? undefined : known.findCluster(metadata.namespace ?? '', owner);

  const paused = pausedBy(metadata, cluster);
  if (paused) return { kind: 'paused', message: paused };
  if (known.crowded !== undefined) return { kind: 'crowded', message: known.crowded };
  const admission = admitOwned(object, owner, cluster, known);
  if (!metadata.deletionTimestamp) return admission;
  const attended = admission.kind === 'admitted' && mayLast(metadata, cluster) ? admission : undefined;
  return { kind: 'deleting', cluster: owner, clusterIsGone: !cluster, attended };
}

/**
 * Whether a deletion may wait for workers for long. Cluster API deletes them soon if the Cluster is deleted too; and what a
 * deletion in the foreground, or that of the namespace, has deleted must not be created again.
 */
function mayLast({ finalizers }: ObjectMeta, cluster: ClusterObject | undefined): boolean {
  return cluster?.metadata.deletionTimestamp === undefined && !finalizers?.includes('foregroundDeletion');
}

/** Decides for an object that is neither paused nor deleted. */
function admitOwned(
  object: KubeObject,
  owner: string | undefined,
  cluster: ClusterObject | undefined,
  { findRevisions, findWithoutControlPlane, ...sources }: Known,
): Admission {
  const { metadata } = object;
  if (owner === undefined)
    return { kind: 'unowned', message: unowned(metadata.name, findWithoutControlPlane(metadata.namespace ?? '')) };
  if (!cluster)
    return { kind: 'unowned', message: `Cluster ${owner}, which owns this object, does not exist: create it` };
  const reference = cluster.spec?.controlPlaneRef;
  if (reference?.name !== metadata.name || reference.kind !== 'HostedControlPlane') {
    return {
      kind: 'mismatch',
      message: `Cluster ${owner} owns this object, but its spec.controlPlaneRef names ${reference?.kind ?? 'no kind'} ${reference?.name ?? ''}, so the operator does nothing, because two control planes of one Cluster would conflict: correct spec.controlPlaneRef, or delete this object`,
    };
  }

  const unusable = unusableName(owner);
  if (unusable !== undefined) return { kind: 'invalid', message: `the name of Cluster ${owner} ${unusable}` };
  const chosen = usableSpec(object, { ...sources, recorded: findRevisions(object, owner) });
  return typeof chosen === 'string'
    ? { kind: 'invalid', message: chosen }
    : { kind: 'admitted', clusterObject: cluster, ...chosen };
}

function pausedBy(metadata: ObjectMeta, cluster: ClusterObject | undefined): string | undefined {
  if (cluster?.spec?.paused)
    return `Cluster ${cluster.metadata.name} is paused: set its spec.paused to false to resume${adviceOnMove(metadata)}`;
  if (metadata.annotations?.[pausedAnnotation] !== undefined)
    return `the annotation ${pausedAnnotation} is set: remove it to resume`;
  return undefined;
}

/** Why a control plane cannot have the name of its Cluster, as the end of a sentence. */
function unusableName(owner: string): string | undefined {
  if (owner.length > maxClusterNameLength)
    return `has ${owner.length} characters, but a hosted control plane supports at most ${maxClusterNameLength}: create a Cluster with a shorter name`;
  if (owner.includes('.'))
    return 'has a dot, but Services of its control plane are named after it, and the name of a Service has none: create a Cluster with another name';
  return undefined;
}

/** @param without Clusters whose control plane does not exist, of which one may mean this object */
function unowned(name: string, without: readonly ClusterObject[]): string {
  const references = without.map(({ metadata, spec }) => [spec?.controlPlaneRef?.name ?? '', metadata.name] as const);
  const near = nearestName(
    name,
    references.map(([reference]) => reference),
  );
  const misnamed = references.find(([reference]) => reference === near);
  if (misnamed)
    return `no Cluster owns this object: Cluster ${misnamed[1]} names HostedControlPlane ${near}, which does not exist: write ${name} into its spec.controlPlaneRef, or create this object as ${near}`;
  return `no Cluster owns this object yet: create a Cluster whose spec.controlPlaneRef names HostedControlPlane ${name}`;
}

/** Cluster API takes seconds to set the owner of an object that was created together with its Cluster. */
const ownedWithinMs = 10_000;

/** When it is worth saying that no Cluster owns an object, in milliseconds since the epoch: at once where something was said before. */
export function saidUnownedAt({ metadata, status }: HostedControlPlaneObject): number {
  if (status?.conditions !== undefined || metadata.creationTimestamp === undefined) return 0;
  return Date.parse(metadata.creationTimestamp) + ownedWithinMs;
}

/** The Clusters of a namespace whose control plane does not exist. */
export function withoutControlPlane(
  management: Pick<ManagementCluster, 'get' | 'list'>,
  namespace: string,
): ClusterObject[] {
  return (management.list(Cluster) as ClusterObject[]).filter(({ metadata, spec }) => {
    const { kind, name } = spec?.controlPlaneRef ?? {};
    if (metadata.namespace !== namespace || kind !== HostedControlPlane.kind || name === undefined) return false;
    return management.get(HostedControlPlane, { namespace, name }) === undefined;
  });
}
