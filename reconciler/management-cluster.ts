import { clusterNameLabel, fieldManager, watchFilterLabel } from '../constructs/api/group.ts';
import {
  Cluster,
  ConfigMap,
  Deployment,
  HostedControlPlane,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  type Resource,
  Secret,
  Service,
  StatefulSet,
} from '../constructs/api/resources.ts';
import { componentLabel } from '../constructs/control-plane/labels.ts';
import type { KubeClient } from './kube/client.ts';
import type { Clock } from './kube/clock.ts';
import { Informer } from './kube/informer.ts';
import type { ObjectChange } from './kube/object-cache.ts';
import { identityOf, isOlder, type KubeObject, type ObjectName } from './kube/object.ts';
import type { Surroundings, World } from './scope.ts';

export interface ManagementClusterOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  /** Only this namespace; all when unset. */
  readonly namespace?: string | undefined;
  /** Only HostedControlPlanes with this value of the watch-filter label; all when unset. */
  readonly watchFilter?: string | undefined;
  readonly onError: (error: unknown) => void;
}

/** The resources of hosted control planes that are watched, each by the labels its objects carry. */
const watched: readonly { readonly resource: Resource; readonly labels: readonly string[] }[] = [
  { resource: Secret, labels: [clusterNameLabel] },
  { resource: ConfigMap, labels: [clusterNameLabel, componentLabel] },
  { resource: Service, labels: [clusterNameLabel, componentLabel] },
  { resource: Deployment, labels: [clusterNameLabel, componentLabel] },
  { resource: StatefulSet, labels: [clusterNameLabel, componentLabel] },
  { resource: PodDisruptionBudget, labels: [clusterNameLabel, componentLabel] },
  { resource: PersistentVolumeClaim, labels: [clusterNameLabel, componentLabel] },
  { resource: Pod, labels: [clusterNameLabel, componentLabel] },
];

/** What is watched, for RBAC. */
export const watchedResources: readonly Resource[] = [HostedControlPlane, Cluster, ...watched.map((w) => w.resource)];

/** Everything we know of the management cluster, kept current by watches. */
export class ManagementCluster {
  readonly #informers: ReadonlyMap<Resource, Informer>;
  /** Answers to our own writes, until the watch has caught up with them. */
  readonly #written = new Map<string, KubeObject>();

  constructor({ client, clock, namespace, watchFilter, onError }: ManagementClusterOptions) {
    const common = { client, clock, namespace, onError, fieldManager, indexedLabels: [clusterNameLabel] };
    const hostedSelector = watchFilter === undefined ? undefined : `${watchFilterLabel}=${watchFilter}`;
    this.#informers = new Map([
      [HostedControlPlane, new Informer({ ...common, resource: HostedControlPlane, labelSelector: hostedSelector })],
      [Cluster, new Informer({ ...common, resource: Cluster })],
      ...watched.map(
        ({ resource, labels }) =>
          [resource, new Informer({ ...common, resource, labelSelector: labels.join(',') })] as const,
      ),
    ]);
    for (const informer of this.#informers.values()) {
      informer.onChange(({ type, object }) => {
        if (type === 'deleted') this.#written.delete(identityOf(object));
      });
    }
  }

  /** Begins to watch; resolves when everything has been seen once. */
  async start(): Promise<void> {
    for (const informer of this.#informers.values()) informer.start();
    await Promise.all([...this.#informers.values()].map((informer) => informer.synced));
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#informers.values()].map((informer) => informer.stop()));
  }

  /** Calls back with every change of anything watched. */
  onChange(handler: (resource: Resource, change: ObjectChange<KubeObject>) => void): void {
    for (const [resource, informer] of this.#informers) informer.onChange((change) => handler(resource, change));
  }

  /** Milliseconds since the epoch at which the quietest watch was last heard of. */
  get lastSeen(): number {
    return Math.min(...[...this.#informers.values()].map((informer) => informer.lastSeen));
  }

  get(resource: Resource, name: ObjectName): KubeObject | undefined {
    const informer = this.#informer(resource);
    const seen = informer.get(name);
    const { apiVersion, kind } = resource;
    const identity = identityOf({ apiVersion, kind, metadata: { ...name } });
    const written = this.#written.get(identity);
    if (!written) return seen;
    // Once the watch has come this far its word counts, also when it says that the object is gone again.
    const isCaughtUp = informer.hasSeen(version(written)) || (seen && !isOlder(version(seen), version(written)));
    if (!isCaughtUp) return written;
    this.#written.delete(identity);
    return seen;
  }

  findCluster(namespace: string, name: string): KubeObject | undefined {
    return this.get(Cluster, { namespace, name });
  }

  list(resource: Resource): KubeObject[] {
    return this.#informer(resource)
      .list()
      .map((object) => this.get(resource, object.metadata) ?? object);
  }

  /** Takes the answer to one of our own writes: the next reconcile must not act on what was before it. */
  remember(object: KubeObject): void {
    this.#written.set(identityOf(object), object);
  }

  /** The part of it that belongs to one Cluster. */
  worldOf(namespace: string, cluster: string): World {
    return {
      get: <T extends KubeObject>(resource: Resource, name: string) =>
        this.get(resource, { namespace, name }) as T | undefined,
      list: <T extends KubeObject>(resource: Resource, labels: Readonly<Record<string, string>>) =>
        this.#informer(resource)
          .byLabel(clusterNameLabel, cluster)
          .filter(({ metadata }) => metadata.namespace === namespace)
          .filter(({ metadata }) =>
            Object.entries(labels).every(([key, value]) => metadata.labels?.[key] === value),
          ) as T[],
    };
  }

  /** What is around the control planes of one namespace. */
  surroundingsOf(_namespace: string): Surroundings {
    return {
      servedVersions: () => [],
      gateway: () => undefined,
      namespaceLabels: () => ({}),
      claimant: () => undefined,
    };
  }

  #informer(resource: Resource): Informer {
    const informer = this.#informers.get(resource);
    if (!informer) throw new Error(`${resource.kind} is not watched: add it to reconciler/management-cluster.ts`);
    return informer;
  }
}

function version(object: KubeObject): string {
  return object.metadata.resourceVersion ?? '0';
}
