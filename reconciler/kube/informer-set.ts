import type { Resource } from '../../constructs/api/resources.ts';
import type { Informer } from './informer.ts';
import type { ObjectChange } from './object-cache.ts';
import { identityOf, isOlder, type KubeObject, type ObjectName } from './object.ts';

/** Watches one resource, or one that may be missing, perhaps in one namespace only. */
export type WatchedResource = Pick<
  Informer,
  | 'resource'
  | 'namespace'
  | 'watches'
  | 'isSynced'
  | 'synced'
  | 'lastSeen'
  | 'hasSeen'
  | 'get'
  | 'list'
  | 'byLabel'
  | 'onChange'
  | 'start'
  | 'stop'
>;

/** What is known of one cluster: what several informers see, and what we wrote before they saw it. */
export class InformerSet {
  readonly #informers: readonly WatchedResource[];
  /** Answers to our own writes, until the watch has caught up with them. */
  readonly #written = new Map<string, KubeObject>();

  /** @param informers several of one resource have a namespace each */
  constructor(informers: readonly WatchedResource[]) {
    this.#informers = informers;
    for (const informer of informers) {
      informer.onChange(({ type, object }) => {
        if (type === 'deleted') this.#written.delete(identityOf(object));
      });
    }
  }

  /** Begins to watch; resolves when everything has been seen once. */
  async start(): Promise<void> {
    for (const informer of this.#informers) informer.start();
    await Promise.all(this.#informers.map((informer) => informer.synced));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#informers.map((informer) => informer.stop()));
  }

  /** Calls back with every change of anything watched. */
  onChange(handler: (resource: Resource, change: ObjectChange<KubeObject>) => void): void {
    for (const informer of this.#informers) informer.onChange((change) => handler(informer.resource, change));
  }

  /** Milliseconds since the epoch at which the quietest watch was last heard of. */
  get lastSeen(): number {
    return Math.min(...this.#informers.map((informer) => informer.lastSeen));
  }

  /** Whether every object of a resource has been seen once. @throws when nobody watches it. */
  isSynced(resource: Resource): boolean {
    return this.#informersOf(resource).every((informer) => informer.isSynced);
  }

  /** The object as it is known to be now. @throws when nobody watches its resource in its namespace. */
  get(resource: Resource, name: ObjectName): KubeObject | undefined {
    const informer = this.#informersOf(resource).find((one) => covers(one, name.namespace));
    if (!informer) throw unwatched(resource, name.namespace);
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

  /** Every object of a resource. @throws when nobody watches it. */
  list(resource: Resource): KubeObject[] {
    return this.#informersOf(resource)
      .flatMap((informer) => informer.list())
      .map((object) => this.get(resource, object.metadata) ?? object);
  }

  /** The objects whose label has this value. @throws unless it is one of the indexed labels. */
  byLabel(resource: Resource, label: string, value: string): KubeObject[] {
    return this.#informersOf(resource).flatMap((informer) => informer.byLabel(label, value));
  }

  /** Takes the answer to one of our own writes: the next reconcile must not act on what was before it. */
  remember(object: KubeObject): void {
    this.#written.set(identityOf(object), object);
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

function version(object: KubeObject): string {
  return object.metadata.resourceVersion ?? '0';
}
