import type { HostedControlPlane } from '../../constructs/api/hosted-control-plane.ts';
import type { HostedCluster } from '../../constructs/cluster/cluster.ts';
import type { OptionalKind, Resource } from '../../constructs/api/resources.ts';
import type { RenderedObject } from '../../constructs/control-plane/chart.ts';
import type { Endpoint } from '../../constructs/cluster/facts.ts';
import type { GatewayObject } from '../exposure/gateway-object.ts';
import type { KubeObject } from '../kube/object.ts';

/** What a phase may read of the management cluster. Answers come from memory: watches keep it current. */
export interface Reader {
  get<T extends KubeObject>(resource: Resource, name: string): T | undefined;
  /** Objects that carry these labels. */
  list<T extends KubeObject>(resource: Resource, labels: Readonly<Record<string, string>>): T[];
}

/**
 * What lies outside of a control plane's own namespace, or is not everywhere installed. Kept current by watches: a
 * control plane is looked at again when something changes that it asked for in its last pass.
 */
export interface SharedResources {
  /** Versions of an optional API that are served and that we know, the best first; empty when it is not installed. */
  servedVersions(kind: OptionalKind): readonly string[];
  /** A Gateway of any namespace. */
  gateway(name: { readonly namespace: string; readonly name: string }): GatewayObject | undefined;
  /** Labels of the control plane's namespace. */
  namespaceLabels(): Readonly<Record<string, string>>;
  /** Who else has this host and may keep it, such as `HostedControlPlane team/c1` or `TLSRoute team/web`. */
  hostOwner(host: string): string | undefined;
}

/** Fields of an object to be set. */
export interface ObjectFields {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: Readonly<Record<string, unknown>>;
  /** Only if nobody has changed the object since it was read; otherwise it is a conflict. */
  readonly onlyIfUnchanged?: boolean;
}

/** What a phase may do to the management cluster, always within the namespace of its HostedControlPlane. */
export interface Writer {
  /** Server-side-applies what is not provably there already; returns the live objects in the same order. */
  apply<T extends KubeObject = KubeObject>(objects: readonly RenderedObject[]): Promise<T[]>;
  /** Creates an object that must never overwrite another one; returns the one that is there now. */
  createOnce<T extends KubeObject = KubeObject>(object: RenderedObject): Promise<T>;
  /** Labels an object of the user with the Cluster's name and touches nothing else of it. */
  adopt(resource: Resource, name: string): Promise<void>;
  /** Reads past the memory: for objects of users, which carry none of our labels. */
  read<T extends KubeObject = KubeObject>(resource: Resource, name: string): Promise<T | undefined>;
  /** Reads past the memory what carries these labels: right before a step that must not rest on what was a moment ago. */
  readAll<T extends KubeObject = KubeObject>(
    resource: Resource,
    labels: Readonly<Record<string, string>>,
  ): Promise<T[]>;
  /** How many nodes the management cluster has whose labels have one of these values each. */
  countNodes(labels: Readonly<Record<string, readonly string[]>>): Promise<number>;
  /**
   * Sets some fields of exactly this object, which a chart does not render, and takes back those it has set before for
   * the same purpose and does not name again.
   * @throws when the object is gone, also when there is a new one of its name
   */
  setFields(resource: Resource, object: KubeObject, fields: ObjectFields, purpose: string): Promise<void>;
  /** Deletes exactly this object; one that is gone is fine, and a new one of its name stays. */
  delete(resource: Resource, object: KubeObject): Promise<void>;
  /** Writes the endpoint into the HostedControlPlane, where Cluster API reads it. */
  publishEndpoint(endpoint: Endpoint): Promise<void>;
  /**
   * Writes the endpoint into the Cluster's infrastructure object when that has none. Tells the one it has instead, and
   * nothing when there is no such object, or it has no such field.
   */
  publishToInfrastructure(endpoint: Endpoint): Promise<Endpoint | undefined>;
}

export interface DeletionWriter {
  /** Deletes this very object; one of the same name that was made since stays. */
  delete(resource: Resource, object: KubeObject): Promise<void>;
  /** Machines and MachinePools of the Cluster that would lose their API server; 0 while the Cluster itself is deleted. */
  workers(): Promise<number>;
}

/** One control plane in the management cluster: what every feature works with. */
export interface ControlPlaneContext {
  readonly hostedControlPlane: HostedControlPlane;
  readonly cluster: HostedCluster;
  readonly reader: Reader;
  readonly writer: Writer;
  readonly now: Date;
}
