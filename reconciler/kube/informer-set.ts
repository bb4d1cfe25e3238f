import type { Resource } from '../../constructs/api/resources.ts';
import type { Informer } from './informer.ts';
import type { ObjectChange } from './object-cache.ts';
import { identityOf, isOlder, type KubeObject, type ObjectName } from './object.ts';

/** A watch of one resource or of an optional one, possibly limited to one namespace. */
export type WatchedResource = Pick<
  Informer,
  | 'resource'
  | 'namespace'
  | 'watches'
  | 'isSynced'
  | 'synced'
  | 'problem'
  | 'activeAt'
  | 'movedAt'
  | 'hasSeen'
  | 'get'
  | 'list'
  | 'byLabel'
  | 'onChange'
  | 'start'
  | 'relist'
  | 'stop'
> &
  Partial<Pick<Informer, 'isListed' | 'noteVersion'>>;

/** The cache of one cluster: the objects of several informers, and newer responses to writes of the operator. */
export class InformerSet {
  readonly #informers: readonly WatchedResource[];
  /** Responses to writes of the operator, until the watch has caught up with them. Each is a whole object. */
  readonly #written = new Map<string, KubeObject>();
  /** Those that are being listed again. */
  readonly #refreshing = new Set<WatchedResource>();

  /** @param informers Several informers of one resource must not watch the same objects. */
  constructor(informers: readonly WatchedResource[]) {
    this.#informers = informers;
    for (const informer of informers) {
      informer.onChange(({ type, object }) => {
        const written = this.#written.get(identityOf(object));
        if (written && (type === 'deleted' || isAtLeast(object, written))) this.#written.delete(identityOf(object));
      });
    }
  }

  /** Starts the watches, and resolves when all objects have been listed. */
  async start(): Promise<void> {
    for (const informer of this.#informers) informer.start();
    await Promise.all(this.#informers.map((informer) => informer.synced));
  }

  /** Lists all objects again, of which some were left out before. Resolves when they are in memory. */
  async relist(): Promise<void> {
    await Promise.all(this.#informers.map((informer) => informer.relist()));
  }

  /** Lists what is only listed again. A list that still runs is left to end: on a slow server none would end otherwise. */
  refresh(): void {
    for (const informer of this.#informers) {
      if (!informer.isListed || !informer.isSynced || this.#refreshing.has(informer)) continue;
      this.#refreshing.add(informer);
      void informer.relist().then(() => this.#refreshing.delete(informer));
    }
  }

  /** Whether the objects of all resources have been listed. */
  get areSynced(): boolean {
    return this.#informers.every(({ isSynced }) => isSynced);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#informers.map((informer) => informer.stop()));
  }

  /** Registers a handler for every change of a watched object. */
  onChange(handler: (resource: Resource, change: ObjectChange<KubeObject>) => void): void {
    for (const informer of this.#informers) informer.onChange((change) => handler(informer.resource, change));
  }

  /** When the server has sent something last on any watch, in the time of Clock.elapsed. */
  get activeAt(): number {
    return Math.max(...this.#informers.map((informer) => informer.activeAt));
  }

  /** When the watch that has stood still the longest has moved last, in the time of Clock.elapsed. */
  get movedAt(): number {
    return Math.min(...this.#informers.map((informer) => informer.movedAt));
  }

  /** Whether the objects of a resource have been listed. @throws when the resource is not watched */
  isSynced(resource: Resource): boolean {
    return this.#informersOf(resource).every((informer) => informer.isSynced);
  }

  /** The newest known state of the object. @throws when its resource is not watched in its namespace */
  get(resource: Resource, name: ObjectName): KubeObject | undefined {
    const informers = this.#informersOf(resource).filter((one) => covers(one, name.namespace));
    if (informers.length === 0) throw unwatched(resource, name.namespace);
    const seen = informers.map((informer) => informer.get(name)).find((object) => object !== undefined);
    const { apiVersion, kind } = resource;
    const identity = identityOf({ apiVersion, kind, metadata: { ...name } });
    const written = this.#written.get(identity);
    if (!written) return seen;
    // Once the watch has caught up, its state counts, also when the object has been deleted.
    const isCaughtUp =
      informers.every((informer) => informer.hasSeen(version(written))) || (seen && isAtLeast(seen, written));
    if (!isCaughtUp) return written;
    this.#written.delete(identity);
    return seen;
  }

  /** Why an informer does not follow the server: the server has more than may be read or held. */
  get problem(): Error | undefined {
    return this.#informers.map(({ problem }) => problem).find((problem) => problem !== undefined);
  }

  /** Every object of a resource, also those that the operator has written and no list has yet. @throws when the resource is not watched */
  list(resource: Resource): KubeObject[] {
    const informers = this.#informersOf(resource);
    const seen = informers
      .flatMap((informer) => informer.list())
      .map((object) => this.get(resource, object.metadata) ?? object);
    const { apiVersion, kind } = resource;
    const isNew = (object: KubeObject): boolean =>
      object.kind === kind &&
      object.apiVersion === apiVersion &&
      informers.some((informer) => covers(informer, object.metadata.namespace)) &&
      informers.every((informer) => informer.get(object.metadata) === undefined);
    const written = [...this.#written.values()].filter(isNew);
    return [...seen, ...written.flatMap(({ metadata }) => this.get(resource, metadata) ?? [])];
  }

  /** The objects of a namespace whose label has this value. @throws when the label is not indexed */
  byLabel(resource: Resource, label: string, { namespace, name: value }: ObjectName): KubeObject[] {
    return this.#informersOf(resource).flatMap((informer) => informer.byLabel(label, value, namespace));
  }

  /** Stores the response to a write of the operator, so that the next reconcile does not act on an older state. */
  remember(object: KubeObject): void {
    const identity = identityOf(object);
    for (const informer of this.#informers)
      if (informer.resource.kind === object.kind) informer.noteVersion?.(version(object));
    const isSeen = this.#informers.some((informer) => {
      const seen = informer.resource.kind === object.kind ? informer.get(object.metadata) : undefined;
      return seen && identityOf(seen) === identity && isAtLeast(seen, object);
    });
    if (isSeen) this.#written.delete(identity);
    else this.#written.set(identity, object);
  }

  /** Drops all of these responses, because the versions of the server have gone back. */
  forgetWritten(): void {
    this.#written.clear();
  }

  #informersOf(resource: Resource): WatchedResource[] {
    const found = this.#informers.filter((informer) => informer.watches(resource));
    if (found.length === 0) throw unwatched(resource, undefined);
    return found;
  }
}

function covers(informer: WatchedResource, namespace: string | undefined): boolean {
  return informer.namespace === undefined || informer.namespace === namespace;
}

function unwatched({ kind }: Resource, namespace: string | undefined): Error {
  return new Error(`${kind}${namespace ? ` in ${namespace}` : ''} is not watched: give its cluster an informer of it`);
}

/** Whether this state of an object is as new as the other one. */
function isAtLeast(object: KubeObject, other: KubeObject): boolean {
  return !isOlder(version(object), version(other));
}

function version(object: KubeObject): string {
  return object.metadata.resourceVersion ?? '0';
}
