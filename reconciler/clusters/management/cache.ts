import type { ClusterObject } from '../../../imports/cluster-api.ts';
import { clusterNameLabel, fieldManager, watchFilterLabel } from '../../../constructs/api/group.ts';
import {
  Cluster,
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  EndpointSlice,
  CiliumNetworkPolicy,
  HostedControlPlane,
  HostedControlPlaneComponentTemplate,
  Ingress,
  Namespace,
  NetworkPolicy,
  Node,
  optionalResources,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  type Resource,
  Secret,
  Service,
  ServiceCIDR,
  StatefulSet,
} from '../../../constructs/api/resources.ts';
import { componentLabel } from '../../../constructs/cluster/labels.ts';
import type { KubernetesApi } from '../../kube/client.ts';
import type { Clock } from '../../kube/clock.ts';
import { isUnreachable } from '../../kube/errors.ts';
import { Informer } from '../../kube/informer.ts';
import { InformerSet } from '../../kube/informer-set.ts';
import type { ObjectChange } from '../../kube/object-cache.ts';
import type { KubeObject, ObjectName } from '../../kube/object.ts';
import { CrowdedNamespaces } from './crowded-namespaces.ts';
import { NamespaceRooms } from './namespace-rooms.ts';
import type { SharedResources, Reader } from './view.ts';
import type { ServerAddress } from '../network/cluster-networks.ts';
import { type DeniedNetworks, SharedResourcesWatch } from './shared-resources.ts';

export interface ManagementClusterOptions {
  readonly client: KubernetesApi;
  readonly clock: Clock;
  /** Only this namespace; all namespaces when unset. */
  readonly namespace?: string | undefined;
  /** Only HostedControlPlanes with this value of the watch-filter label; all when unset. */
  readonly watchFilter?: string | undefined;
  /** Networks to which no control plane may connect, besides those that are derived from the cluster. @default none */
  readonly denied?: readonly string[] | undefined;
  /** Only what belongs to this Cluster, but every HostedControlPlane: their claims of hosts count. All when unset. */
  readonly only?: { readonly namespace: string; readonly cluster: string } | undefined;
  /** The memory of the process in bytes, of which a part is for these objects. @default 512 MiB */
  readonly heapBytes?: number | undefined;
  readonly onError: (error: unknown) => void;
}

/**
 * What the objects of each namespace may take whatever others take, and the part of the memory for what they take beyond that: components
 * of control planes, of which each has some 0.35 MiB, and what users write of them, of which each has 0.05.
 */
const rooms = {
  components: { ownBytes: 4 * 1024 * 1024, part: 2 / 5 },
  specs: { ownBytes: 2 * 1024 * 1024, part: 1 / 8 },
};

/** Kinds of the components of control planes and of what belongs to them. */
export const componentKinds: readonly Resource[] = [
  Secret,
  ConfigMap,
  Service,
  Ingress,
  Deployment,
  StatefulSet,
  PodDisruptionBudget,
  NetworkPolicy,
  PersistentVolumeClaim,
  Pod,
];

/** Labels of their objects. Not the Cluster's name alone: the bootstrap Secret of every Machine has that label, too. */
const componentLabels = [clusterNameLabel, componentLabel];

/** What users write of control planes. */
const specKinds: readonly Resource[] = [HostedControlPlane, HostedControlPlaneComponentTemplate, Cluster];

/** All watched resources, for RBAC. */
export const watchedResources: readonly Resource[] = [
  ...specKinds,
  ...componentKinds,
  Namespace,
  EndpointSlice,
  Node,
  ServiceCIDR,
  CustomResourceDefinition,
  ...Object.values(optionalResources).flat(),
];

/** Cache of the management cluster, which watches keep current. */
export class ManagementCluster {
  readonly #known: InformerSet;
  readonly #hosted: Informer;
  readonly #sharedResources: SharedResourcesWatch;
  readonly #rooms: { readonly specs: NamespaceRooms; readonly components: NamespaceRooms };
  readonly #crowded: CrowdedNamespaces;
  #reportRestored: () => void = () => {};
  #reportReturned: () => void = () => {};
  #reportRoom: (namespace: string) => void = () => {};
  /** Whether a watch has found no server since one was reported to be back. */
  #isUnreachable = false;

  constructor(options: ManagementClusterOptions) {
    const { client, clock, namespace, watchFilter, only, denied = [], heapBytes = 512 * 1024 * 1024 } = options;
    const onError = (error: unknown): void => {
      this.#isUnreachable ||= isUnreachable(error);
      options.onError(error);
    };
    const events = { onError, onRestored: () => this.#forgetVersions(), onReturned: () => this.#returned() };
    const common = { client, clock, namespace, ...events, fieldManager, indexedLabels: [clusterNameLabel] };
    const ofOne = { ...common, namespace: only?.namespace ?? namespace };
    const hostedSelector = watchFilter === undefined ? undefined : `${watchFilterLabel}=${watchFilter}`;
    const roomsOf = ({ ownBytes, part }: (typeof rooms)['specs']) =>
      new NamespaceRooms({ ownBytes, sharedBytes: heapBytes * part }, (crowded) => this.#roomChanged(crowded));
    const specs = roomsOf(rooms.specs);
    const components = roomsOf(rooms.components);
    this.#rooms = { specs, components };
    this.#hosted = new Informer({
      ...common,
      room: specs,
      resource: HostedControlPlane,
      labelSelector: hostedSelector,
    });
    this.#sharedResources = new SharedResourcesWatch(common, {
      seesEveryClaim: namespace === undefined && watchFilter === undefined,
      denied,
    });
    this.#hosted.onChange((change) => this.#sharedResources.takeHostedControlPlane(change));
    const labelSelector = componentLabels.map((label) => selected(label, only)).join(',');
    const kinds = componentKinds.map((resource) => ({ resource, labelSelector }));
    this.#known = new InformerSet([
      this.#hosted,
      new Informer({ ...ofOne, room: specs, resource: Cluster }),
      new Informer({ ...ofOne, room: specs, resource: HostedControlPlaneComponentTemplate }),
      ...kinds.map((kind) => new Informer({ ...ofOne, ...kind, room: components })),
      ...this.#sharedResources.informers,
    ]);
    this.#crowded = new CrowdedNamespaces({
      client,
      clock,
      rooms: [
        { room: specs, kinds: specKinds.map((resource) => ({ resource })) },
        { room: components, kinds },
      ],
      relist: () => this.#known.relist(),
      onOpened: (opened) => this.#roomChanged(opened),
      onError,
    });
  }

  /** Starts the watches, and resolves when all objects have been listed, with the networks that the cluster has. */
  async start(): Promise<DeniedNetworks> {
    await this.#known.start();
    const policies = [NetworkPolicy, CiliumNetworkPolicy].flatMap((resource) => this.list(resource));
    return this.#sharedResources.derive(policies);
  }

  async stop(): Promise<void> {
    this.#crowded.stop();
    await Promise.all([this.#known.stop(), this.#sharedResources.stop()]);
  }

  /** The API servers of the cluster, each with its port. */
  get apiServers(): readonly ServerAddress[] {
    return this.#sharedResources.apiServers;
  }

  /** Networks to which nothing of a tenant may connect. */
  get deniedNetworks(): readonly string[] {
    return this.#sharedResources.deniedNetworks;
  }

  /** Registers a handler for every change of a watched object. */
  onChange(handler: (resource: Resource, change: ObjectChange<KubeObject>) => void): void {
    this.#known.onChange(handler);
  }

  /** Registers a handler for the key of each HostedControlPlane that depends on a changed shared resource. */
  onSharedResourcesChange(handler: (key: string) => void): void {
    this.#sharedResources.onChange(handler);
  }

  /**
   * Sets the handler that is called when the versions of the API server have gone back, because its etcd was restored
   * from a backup. The watch of each kind detects that separately, so that it may be called several times.
   */
  onRestored(handler: () => void): void {
    this.#reportRestored = handler;
  }

  /** Sets the handler that is called when the API server answers watches again after it did not. */
  onReturned(handler: () => void): void {
    this.#reportReturned = handler;
  }

  /** Sets the handler for each namespace that has no room for its objects any more, or has room again. */
  onRoomChange(handler: (namespace: string) => void): void {
    this.#reportRoom = handler;
  }

  /** Why not everything of the namespace is known, so that nothing of it may be reconciled; undefined otherwise. */
  crowdedBy(namespace: string): string | undefined {
    return this.#rooms.components.problemOf(namespace) ?? this.#rooms.specs.problemOf(namespace);
  }

  /** When the API server has sent something last on any watch, in the time of Clock.elapsed. */
  get activeAt(): number {
    return this.#known.activeAt;
  }

  /** When the watch that has stood still the longest has received something, has failed or has begun again last, in the same time. */
  get movedAt(): number {
    return this.#known.movedAt;
  }

  get(resource: Resource, name: ObjectName): KubeObject | undefined {
    return this.#known.get(resource, name);
  }

  findCluster(namespace: string, name: string): ClusterObject | undefined {
    return this.get(Cluster, { namespace, name });
  }

  list(resource: Resource): KubeObject[] {
    return this.#known.list(resource);
  }

  /** Stores the response to a write of the operator, so that the next reconcile does not act on an older state. */
  remember(object: KubeObject): void {
    this.#known.remember(object);
    if (object.kind !== HostedControlPlane.kind || this.#hosted.hasSeen(object.metadata.resourceVersion ?? '0')) return;
    this.#sharedResources.takeHostedControlPlane({ type: 'updated', object });
  }

  #roomChanged(namespace: string): void {
    if (this.crowdedBy(namespace) !== undefined) this.#crowded.note();
    this.#reportRoom(namespace);
  }

  /** Each watch detects it separately. */
  #returned(): void {
    if (!this.#isUnreachable) return;
    this.#isUnreachable = false;
    this.#reportReturned();
  }

  #forgetVersions(): void {
    this.#known.forgetWritten();
    this.#sharedResources.forgetVersions();
    this.#reportRestored();
  }

  /** The part of the cache that belongs to one Cluster. */
  readerOf(namespace: string, cluster: string): Reader {
    return {
      get: <T extends KubeObject>(resource: Resource, name: string) =>
        this.get(resource, { namespace, name }) as T | undefined,
      list: <T extends KubeObject>(resource: Resource, labels: Readonly<Record<string, string>>) =>
        this.#known
          .byLabel(resource, clusterNameLabel, { namespace, name: cluster })
          .filter(({ metadata }) =>
            Object.entries(labels).every(([key, value]) => metadata.labels?.[key] === value),
          ) as T[],
    };
  }

  /** The shared resources of one control plane, for one reconcile. */
  sharedResourcesOf(namespace: string, name: string): SharedResources {
    return this.#sharedResources.sharedResourcesOf({ namespace, name });
  }
}

function selected(label: string, only: ManagementClusterOptions['only']): string {
  return label === clusterNameLabel && only !== undefined ? `${label}=${only.cluster}` : label;
}
