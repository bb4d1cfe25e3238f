import type { HeldHost } from '../../../constructs/api/status.ts';
import type { HostedControlPlane } from '../../../constructs/api/hosted-control-plane.ts';
import type { HostedCluster } from '../../../constructs/cluster/cluster.ts';
import type { ComponentName } from '../../../constructs/cluster/labels.ts';
import type { OptionalKind, Resource } from '../../../constructs/api/resources.ts';
import type { RenderedObject } from '../../../constructs/control-plane/chart.ts';
import type { Endpoint } from '../../../constructs/cluster/facts.ts';
import type { StepNeeds } from '../dry-run/try-step.ts';
import type { GatewayObject } from '../exposure/gateway-object.ts';
import type { ApplyAllOptions } from '../../kube/apply-set.ts';
import type { KubeObject, OwnerReference } from '../../kube/object.ts';
import type { Rendered } from '../../kube/rendering.ts';
import type { Unexplained, Warning } from './warnings.ts';

/** Read access of a phase to the management cluster, from a cache that watches keep current. */
export interface Reader {
  get<T extends KubeObject>(resource: Resource, name: string): T | undefined;
  /** Objects with these labels. */
  list<T extends KubeObject>(resource: Resource, labels: Readonly<Record<string, string>>): T[];
}

/**
 * Resources outside a control plane's own namespace, or of optional APIs, from a cache that watches keep current. A
 * control plane is reconciled when a resource changes that it read in its last reconcile.
 */
export interface SharedResources {
  /**
   * Served versions of an optional API that the operator supports, the preferred one first; empty when it is not
   * installed.
   */
  servedVersions(kind: OptionalKind): readonly string[];
  /** A Gateway of any namespace. */
  gateway(name: { readonly namespace: string; readonly name: string }): GatewayObject | undefined;
  /** Networks of the management cluster to which no control plane may connect; not link-local ones. */
  deniedNetworks(): readonly string[];
  /** Labels of the control plane's namespace. */
  namespaceLabels(): Readonly<Record<string, string>>;
  /** Host names that this control plane holds. */
  heldHosts(): readonly HeldHost[];
  /** Whether the claims of all control planes are known: not if the operator sees one namespace, or some objects, only. */
  readonly seesEveryClaim: boolean;
  /**
   * The other holder of this host name that may keep it, such as `HostedControlPlane team/c1` or `TLSRoute team/web`.
   */
  hostOwner(host: string): string | undefined;
}

/** Fields to set on an object. */
export interface ObjectFields {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: Readonly<Record<string, unknown>>;
  /** Owners besides those that it has. */
  readonly ownerReferences?: readonly OwnerReference[];
  /** Only if the object has not changed since it was read; otherwise it is a conflict. */
  readonly onlyIfUnchanged?: boolean;
}

/** How long a refused step is not tried again with the same objects, in milliseconds. */
export const refusalKeptMs = 30_000;

/** Who takes the refusals of an apply, which are in the condition of a phase, and which of the objects it applies. */
export type ApplyOptions = Pick<ApplyAllOptions, 'onRefused' | 'only'>;

/** Write access of a phase to the management cluster, limited to the namespace of its HostedControlPlane. */
export interface Writer {
  /**
   * Server-side-applies the objects that have changed, and returns the live objects in the same order. A refused one is as it was
   * before, and is missing if it was not there.
   * @throws a refusal too, unless the options take it
   */
  apply<T extends KubeObject = KubeObject>(objects: Rendered<RenderedObject>, options?: ApplyOptions): Promise<T[]>;
  /** Creates an object that must never overwrite an existing one, and returns the object that exists afterwards. */
  createOnce<T extends KubeObject = KubeObject>(object: RenderedObject): Promise<T>;
  /**
   * Whether the API server would refuse something that a step needs, before the step stops anything. A refusal is tried again
   * half a minute later, or with other objects.
   * @returns one sentence about what is refused and what to do; undefined if nothing is
   * @throws if the API server does not decide
   */
  dryRun(needs: StepNeeds): Promise<string | undefined>;
  /**
   * What an apply would store of the only object of this kind, if it may differ from what is stored; undefined otherwise. Stores
   * nothing.
   */
  preview<T extends KubeObject = KubeObject>(objects: Rendered<RenderedObject>, of: Resource): Promise<T | undefined>;
  /** Labels an object of the user, so that watches report it, and changes nothing else. */
  adopt(resource: Resource, name: string): Promise<void>;
  /** Reads from the API server, for objects of users, which have no label to watch by. */
  read<T extends KubeObject = KubeObject>(resource: Resource, name: string): Promise<T | undefined>;
  /**
   * Reads objects with these labels from the API server, directly before a step that must not depend on an outdated
   * cache.
   */
  readAll<T extends KubeObject = KubeObject>(
    resource: Resource,
    labels: Readonly<Record<string, string>>,
  ): Promise<T[]>;
  /**
   * What events say of objects of this component that do not say themselves what is wrong, the newest first. The API server is asked at
   * most once in half a minute about the same objects, and for a few events of a few objects.
   */
  warnings(component: ComponentName, objects: readonly Unexplained[], now: Date): Promise<readonly Warning[]>;
  /** Number of nodes of the management cluster whose labels have one of the values each. */
  countNodes(labels: Readonly<Record<string, readonly string[]>>): Promise<number>;
  /**
   * Sets fields of exactly this object that no chart renders, and removes those that it has set before for the same
   * purpose and that are not in the list.
   * @throws when the object was deleted, also when there is a new one with its name
   */
  setFields(resource: Resource, object: KubeObject, fields: ObjectFields, purpose: string): Promise<void>;
  /**
   * Sets annotations of exactly this object in one write, and removes those that are null, whichever client has set them.
   * @throws when the object was deleted, also when there is a new one with its name
   */
  annotate(resource: Resource, object: KubeObject, annotations: Readonly<Record<string, string | null>>): Promise<void>;
  /**
   * Sets all finalizers of exactly this object, and adds annotations in the same write, if nothing has changed since it was read. A
   * deleted object is ignored.
   */
  setFinalizers(
    resource: Resource,
    object: KubeObject,
    finalizers: readonly string[],
    annotations?: Readonly<Record<string, string>>,
  ): Promise<void>;
  /** Deletes exactly this object. A deleted object is ignored, and a new one with its name stays. */
  delete(resource: Resource, object: KubeObject): Promise<void>;
  /** Records in the status which host names the control plane holds. */
  recordHosts(hosts: readonly HeldHost[]): Promise<void>;
  /** Writes the endpoint into the HostedControlPlane, where Cluster API reads it. */
  publishEndpoint(endpoint: Endpoint): Promise<void>;
  /**
   * Writes the endpoint into the Cluster's infrastructure object when that has none. Returns the endpoint that it has
   * otherwise; undefined when the object or the field does not exist.
   */
  publishToInfrastructure(endpoint: Endpoint): Promise<Endpoint | undefined>;
}

export interface DeletionWriter extends Pick<Writer, 'createOnce' | 'setFinalizers'> {
  /** Deletes exactly this object. A new one with its name stays. */
  delete(resource: Resource, object: KubeObject): Promise<void>;
  /** Removes this owner and our finalizer from exactly this object, which is kept when the owner is gone. @param uid of the owner */
  keep(resource: Resource, object: KubeObject, uid: string | undefined): Promise<void>;
  /**
   * Number of Machines, MachineSets, MachineDeployments and MachinePools of the Cluster, whose workers would lose their
   * API server; 0 while the Cluster itself is being deleted.
   */
  workers(): Promise<number>;
}

/** One control plane in the management cluster: what every feature works with. */
export interface ControlPlaneContext {
  readonly hostedControlPlane: HostedControlPlane;
  readonly cluster: HostedCluster;
  readonly reader: Reader;
  readonly writer: Writer;
  readonly now: Date;
  /**
   * Why the clock cannot be trusted, as a sentence; undefined if it can. Until then nothing is issued, deleted or scheduled by the
   * time, while {@link now} goes on as well as it can.
   */
  readonly clockFault?: string | undefined;
}
