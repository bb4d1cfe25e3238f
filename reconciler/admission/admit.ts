import { pausedAnnotation } from '../../constructs/api/group.ts';
import type { HostedControlPlane } from '../../constructs/api/hosted-control-plane.ts';
import { type ParsedHostedControlPlane, parseStoredHostedControlPlane } from '../../constructs/api/parse.ts';
import { Ingress, IngressRouteTCP, Service } from '../../constructs/api/resources.ts';
import type { HostedCluster } from '../../constructs/cluster/cluster.ts';
import { definedOnly } from '../../constructs/cluster/defined.ts';
import { keepingProxies } from '../../constructs/cluster/in-cluster-access.ts';
import { type ManagementIssuer, withManagementIssuer } from '../../constructs/cluster/management-issuer.ts';
import { maxClusterNameLength, namesOf } from '../../constructs/cluster/names.ts';
import { defaultPlatformLists, type PlatformLists } from '../../constructs/cluster/platform-lists.ts';
import type { RevisionFacts } from '../../constructs/cluster/facts.ts';
import { exposureStrategy } from '../../constructs/control-plane/exposure/exposure.ts';
import { type LiveWayIn, withinPlatformLists } from '../../constructs/control-plane/exposure/within-platform-lists.ts';
import { withComponentTemplate } from '../../constructs/pod/component-template.ts';
import { adviceOnMove } from '../etcd/formation.ts';
import { ClusterObject, owningCluster } from '../management/cluster-object.ts';
import type { KubeObject, ObjectMeta } from '../kube/object.ts';
import type { ServiceObject } from '../kube/service-object.ts';
import { holdsNewest } from '../api-server/held-configuration.ts';
import type { Reader } from '../management/view.ts';
import { observeNetwork } from '../network/observe.ts';
import type { RecordedRevisions } from '../revision/believed.ts';
import type { ReleaseChoice } from '../revision/choose-release.ts';
import { skipsConfiguration } from '../upgrade/preflight/configuration.ts';
import { atRevision, failureOf, lastUsable, recordedRevisions, type Refusal } from '../revision/revisions.ts';

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
export interface Admitted {
  readonly kind: 'admitted';
  readonly hostedControlPlane: HostedControlPlane;
  readonly clusterObject: ClusterObject;
  readonly release: ReleaseChoice;
  /** Why the spec of the object is refused, if it is: {@link hostedControlPlane} has the last usable one instead. */
  readonly refusal?: Refusal | undefined;
  /**
   * The object by its newest spec, while a kube-apiserver checks or has refused its configuration: {@link
   * hostedControlPlane} has the last accepted one instead.
   */
  readonly candidate?: Candidate | undefined;
}

/** An object by its newest spec, with the release for it. */
interface Candidate {
  readonly hostedControlPlane: HostedControlPlane;
  readonly release: ReleaseChoice;
}

/** What the platform has set for all control planes. */
export interface ByPlatform {
  readonly managementIssuer?: ManagementIssuer | undefined;
  /** @default {@link defaultPlatformLists} */
  readonly platformLists?: PlatformLists | undefined;
}

const unattended =
  'until then nothing is reconciled, because the record of the last accepted spec is missing, or is not what the operator wrote';

/** What the operator knows besides the object. */
export interface Known {
  /** Why not all objects of its namespace are known. @default all are */
  readonly crowded?: string | undefined;
  readonly findCluster: (namespace: string, name: string) => KubeObject | undefined;
  readonly findComponentTemplate: (namespace: string, name: string) => KubeObject | undefined;
  readonly findRevisions: (object: KubeObject, cluster: string) => RecordedRevisions;
  readonly chooseRelease: (hostedControlPlane: HostedControlPlane, recorded: RecordedRevisions) => ReleaseChoice;
}

/**
 * Decides what the operator may do. A pause takes precedence over everything, including deletion. A deletion needs no
 * valid spec, so that every object can be deleted.
 */
export function admit(object: KubeObject, known: Known): Admission {
  const { metadata } = object;
  const owner = owningCluster(metadata);
  const found = owner === undefined ? undefined : known.findCluster(metadata.namespace ?? '', owner);
  const cluster = found && ClusterObject.parse(found);

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
  { findComponentTemplate, findRevisions, chooseRelease }: Known,
): Admission {
  const { metadata } = object;
  if (owner === undefined) return { kind: 'unowned', message: unowned(metadata.name) };
  if (!cluster)
    return { kind: 'unowned', message: `Cluster ${owner}, which owns this object, does not exist: create it` };
  const reference = cluster.spec?.controlPlaneRef;
  if (reference?.name !== metadata.name || reference.kind !== 'HostedControlPlane') {
    return {
      kind: 'mismatch',
      message: `Cluster ${owner} owns this object, but its spec.controlPlaneRef names ${reference?.kind ?? 'no kind'} ${reference?.name ?? ''}, so the operator does nothing, because two control planes of one Cluster would conflict: correct spec.controlPlaneRef, or delete this object`,
    };
  }

  if (owner.length > maxClusterNameLength) {
    return {
      kind: 'invalid',
      message: `the name of Cluster ${owner} has ${owner.length} characters, but a hosted control plane supports at most ${maxClusterNameLength}: create a Cluster with a shorter name`,
    };
  }
  const admitted = (by: Candidate, refusal?: Refusal): Admitted => ({
    ...by,
    kind: 'admitted',
    clusterObject: cluster,
    refusal,
  });
  const { namespace = '' } = metadata;
  const recorded = findRevisions(object, owner);
  const newest = readNewest(object, (name) => findComponentTemplate(namespace, name), acceptedSpec(object, recorded));
  const last = () => readRevision(object, lastUsable(recorded));
  if (newest.kind === 'refused') {
    const { refusal: message } = newest;
    const usable = last();
    if (usable) return admitted(usable, { reason: 'InvalidConfiguration', message });
    return { kind: 'invalid', message: recorded.isAltered ? `${message}; ${unattended}` : message };
  }
  const { hostedControlPlane } = newest;
  const release = chooseRelease(hostedControlPlane, recorded);
  const failure = failureOf(hostedControlPlane, release.release, recorded);
  const usable = failure === undefined ? undefined : last();
  if (failure !== undefined && usable) return admitted(usable, { reason: 'RevisionFailed', message: failure });
  return admitted({ hostedControlPlane, release });
}

/**
 * The admission by the last accepted spec, while a kube-apiserver has not accepted the configuration of the newest one. The
 * object stays as it is when it is refused anyway, or when there is no other spec.
 */
export function untilChecked(
  object: KubeObject,
  admission: Admitted,
  { reader, ...byPlatform }: ByPlatform & { readonly reader: Reader },
): Admitted {
  const { clusterObject, hostedControlPlane, release, refusal } = admission;
  const last = readRevision(object, lastUsable(recordedRevisions(reader, object, clusterObject.metadata.name)));
  if (refusal !== undefined || last === undefined) return admission;
  const held = { ...admission, ...last, candidate: { hostedControlPlane, release } };
  const clusterOf = (one: Admitted) => hostedClusterOf(one, { ...byPlatform, reader });
  const newest = clusterOf(admission);
  const isSkipped = skipsConfiguration({ cluster: newest, hostedControlPlane, reader });
  return holdsNewest(newest, clusterOf(held), reader, isSkipped) ? held : admission;
}

/** Whether the operator can reconcile a spec, otherwise why not. */
type ReadSpec =
  | { readonly kind: 'accepted'; readonly hostedControlPlane: HostedControlPlane }
  | { readonly kind: 'refused'; readonly refusal: string };

/** The object by a recorded revision, which contains what its template added, if the operator still accepts that. */
function readRevision(object: KubeObject, revision: RevisionFacts | undefined): Candidate | undefined {
  const recorded = revision && atRevision(object, revision);
  const read = recorded && accept(parseStoredHostedControlPlane(recorded, recorded.spec));
  if (revision === undefined || read?.kind !== 'accepted') return undefined;
  return { hostedControlPlane: read.hostedControlPlane, release: { release: revision.release } };
}

/** The object by its own spec and the template that this refers to. */
function readNewest(
  object: KubeObject,
  findTemplate: (name: string) => KubeObject | undefined,
  accepted: unknown,
): ReadSpec {
  const parsed = parseStoredHostedControlPlane(object, accepted);
  return accept(parsed.valid ? withComponentTemplate(parsed.hostedControlPlane, findTemplate, accepted) : parsed);
}

function acceptedSpec(object: KubeObject, recorded: RecordedRevisions): unknown {
  const revision = lastUsable(recorded);
  return revision && atRevision(object, revision)?.spec;
}

function accept(parsed: ParsedHostedControlPlane): ReadSpec {
  if (!parsed.valid) return { kind: 'refused', refusal: parsed.message };
  const { hostedControlPlane } = parsed;
  const { spec } = hostedControlPlane;
  const contradiction = exposureStrategy(spec).contradiction(definedOnly(spec.controlPlaneEndpoint ?? {}));
  if (contradiction) return { kind: 'refused', refusal: `spec.exposure: ${contradiction.message}` };
  return { kind: 'accepted', hostedControlPlane };
}

function pausedBy(metadata: ObjectMeta, cluster: ClusterObject | undefined): string | undefined {
  if (cluster?.spec?.paused)
    return `Cluster ${cluster.metadata.name} is paused: set its spec.paused to false to resume${adviceOnMove(metadata)}`;
  if (metadata.annotations?.[pausedAnnotation] !== undefined)
    return `the annotation ${pausedAnnotation} is set: remove it to resume`;
  return undefined;
}

function unowned(name: string): string {
  return `no Cluster owns this object yet: create a Cluster whose spec.controlPlaneRef names HostedControlPlane ${name}`;
}

/**
 * The cluster of an admitted HostedControlPlane, including choices that its status has fixed, or the platform has made. What the
 * platform's lists allow is decided only with a reader of what is there.
 */
export function hostedClusterOf(
  {
    hostedControlPlane,
    clusterObject,
    release,
  }: Pick<Admitted, 'hostedControlPlane' | 'clusterObject'> & Partial<Pick<Admitted, 'release'>>,
  { managementIssuer, platformLists = defaultPlatformLists, reader }: ByPlatform & { readonly reader?: Reader } = {},
): HostedCluster {
  const cluster = {
    name: clusterObject.metadata.name,
    namespace: hostedControlPlane.metadata.namespace,
    network: observeNetwork({ hostedControlPlane, clusterObject, reader }),
    spec: keepingProxies(hostedControlPlane.spec, hostedControlPlane.status?.inClusterAccess),
    release: release?.release,
  };
  const signingIn = withManagementIssuer(cluster, managementIssuer);
  return reader ? withinPlatformLists(signingIn, platformLists, liveWayIn(reader, cluster)) : signingIn;
}

/** Annotations and class of the object that leads to the API servers: what they are, an operator before may have allowed. */
function liveWayIn(reader: Reader, { name, spec }: HostedCluster): LiveWayIn {
  const names = namesOf(name);
  const ingress = spec.exposure?.ingress;
  if (ingress === undefined) {
    const service = reader.get<ServiceObject>(Service, names.apiService);
    return { annotations: service?.metadata.annotations, className: service?.spec?.loadBalancerClass };
  }
  const resource = ingress.controller === 'traefik' ? IngressRouteTCP : Ingress;
  const route = reader.get<KubeObject & { readonly spec?: { readonly ingressClassName?: string } }>(
    resource,
    names.routes.api,
  );
  return { annotations: route?.metadata.annotations, className: route?.spec?.ingressClassName };
}
