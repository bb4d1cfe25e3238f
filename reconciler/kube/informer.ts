import type { Resource } from '../../constructs/api/resources.ts';
import type { KubeClient } from './client.ts';
import type { Selection } from './client-options.ts';
import { jittered, pause, type Clock, type Random } from './clock.ts';
import { isGone, isNotFound } from './errors.ts';
import { ObjectCache, type ObjectChange } from './object-cache.ts';
import { isOlder, type KubeObject, type ObjectName } from './object.ts';

/** What an informer needs. */
export interface InformerOptions extends Selection {
  readonly client: KubeClient;
  readonly resource: Resource;
  readonly clock: Clock;
  /** By default Math.random. */
  readonly random?: Random;
  /** Of managedFields only what this manager applied is kept in memory. By default none of it. */
  readonly fieldManager?: string | undefined;
  /** Labels `byLabel` can be asked for. By default none. */
  readonly indexedLabels?: readonly string[];
  /** Whether the resource may be missing in the cluster, as foreign CRDs are. By default a missing one is an error. */
  readonly optional?: boolean;
  /** Hears every failed list, broken watch and throwing handler; the informer goes on by itself. */
  readonly onError?: (error: unknown) => void;
  /** How long one watch lasts, in seconds, before jitter. By default 450, so 6 to 9 minutes. */
  readonly watchSeconds?: number;
  /** The longest silence of a watch in milliseconds. By default the client's, 150 s. */
  readonly watchInactivityMs?: number;
}

const firstDelayMs = 100;
const longestDelayMs = 15_000;
const unservedDelayMs = 30_000;

/** Keeps the objects of one resource in memory and tells about every change, through whatever happens to the server. */
export class Informer<T extends KubeObject = KubeObject> {
  readonly resource: Resource;
  readonly #options: InformerOptions;
  readonly #random: Random;
  readonly #cache: ObjectCache<T>;
  readonly #handlers = new Set<(change: ObjectChange<T>) => void>();
  readonly #stopping = new AbortController();
  readonly #synced = Promise.withResolvers<void>();
  #running: Promise<void> | undefined;
  #resourceVersion: string | undefined;
  #served: boolean | undefined;
  #lastSeen: number;

  constructor(options: InformerOptions) {
    this.resource = options.resource;
    this.#options = options;
    this.#random = options.random ?? Math.random;
    this.#cache = new ObjectCache(options.indexedLabels ?? []);
    this.#lastSeen = options.clock.now();
  }

  /** Resolves after the first complete list, or once it is known that an optional resource is not there. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  /** Whether the cluster has the resource; undefined until that is known. */
  get served(): boolean | undefined {
    return this.#served;
  }

  /** When the server last said anything, in milliseconds since the epoch: for the liveness probe. */
  get lastSeen(): number {
    return this.#lastSeen;
  }

  /**
   * Whether everything up to this version of the resource is in memory. An object written at that version that is not
   * there any more has been deleted since.
   */
  hasSeen(resourceVersion: string): boolean {
    return this.#resourceVersion !== undefined && !isOlder(this.#resourceVersion, resourceVersion);
  }

  get(name: ObjectName): T | undefined {
    return this.#cache.get(name);
  }

  list(): T[] {
    return this.#cache.list();
  }

  /** The objects whose label has this value. Throws unless it is one of the indexed labels. */
  byLabel(label: string, value: string): T[] {
    return this.#cache.byLabel(label, value);
  }

  /** Calls back with every change from now on; those already here come as `added`. Returns what ends it. */
  onChange(handler: (change: ObjectChange<T>) => void): () => void {
    this.#handlers.add(handler);
    for (const object of this.list()) this.#call(handler, { type: 'added', object });
    return () => this.#handlers.delete(handler);
  }

  /** Begins to list and watch, until `stop`. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** Ends at once; what is in memory stays readable. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    for (let failures = 0; !signal.aborted;) {
      try {
        if (this.#resourceVersion === undefined) await this.#list();
        await this.#watch(() => (failures = 0));
      } catch (error) {
        if (signal.aborted) return;
        await pause(this.#options.clock, this.#recover(error, failures++), signal);
      }
    }
  }

  async #list(): Promise<void> {
    const { client, resource } = this.#options;
    const { items, resourceVersion } = await client.list<T>(resource, {
      ...this.#selection(),
      signal: this.#stopping.signal,
    });
    this.#resourceVersion = resourceVersion;
    this.#lastSeen = this.#options.clock.now();
    this.#served = true;
    for (const item of items) this.#strip(item);
    this.#announce(this.#cache.replace(items));
    this.#synced.resolve();
  }

  async #watch(onEvent: () => void): Promise<void> {
    const { client, resource, clock, watchSeconds = 450, watchInactivityMs } = this.#options;
    const events = client.watch<T>(resource, {
      ...this.#selection(),
      resourceVersion: this.#resourceVersion,
      timeoutSeconds: Math.ceil(jittered(watchSeconds, this.#random)),
      inactivityMs: watchInactivityMs,
      signal: this.#stopping.signal,
    });
    const beganAt = clock.now();
    let heard = false;
    for await (const event of events) {
      heard = true;
      onEvent();
      this.#lastSeen = clock.now();
      if (event.type === 'BOOKMARK') this.#advance(event.resourceVersion);
      else this.#take(event.type, event.object);
    }
    // A proxy or a server on its way out may end every watch at once: that is no reason to hammer it.
    if (!heard && clock.now() - beganAt < 1_000) throw new Error(`the watch of ${resource.plural} ended at once`);
  }

  #take(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void {
    this.#resourceVersion = object.metadata.resourceVersion;
    this.#strip(object);
    const change = type === 'DELETED' ? this.#cache.remove(object.metadata, object) : this.#cache.put(object);
    if (change) this.#announce([change]);
  }

  /** A server whose etcd was restored from a backup goes back in time and says nothing about it: list again. */
  #advance(resourceVersion: string): void {
    if (isOlder(resourceVersion, this.#resourceVersion ?? '0')) {
      this.#resourceVersion = undefined;
      throw new Error(`the watch of ${this.resource.plural} went back to version ${resourceVersion}: listing again`);
    }
    this.#resourceVersion = resourceVersion;
  }

  /** Decides what to forget after a failure and returns how long to stay away. */
  #recover(error: unknown, failures: number): number {
    if (isGone(error)) this.#resourceVersion = undefined;
    if (this.#options.optional && isNotFound(error)) {
      this.#resourceVersion = undefined;
      this.#served = false;
      this.#lastSeen = this.#options.clock.now();
      this.#announce(this.#cache.replace([]));
      this.#synced.resolve();
      return jittered(unservedDelayMs, this.#random);
    }
    this.#options.onError?.(error);
    return jittered(Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(failures, 20)), this.#random);
  }

  #announce(changes: readonly ObjectChange<T>[]): void {
    for (const change of changes) for (const handler of this.#handlers) this.#call(handler, change);
  }

  #call(handler: (change: ObjectChange<T>) => void, change: ObjectChange<T>): void {
    try {
      handler(change);
    } catch (error) {
      this.#options.onError?.(error);
    }
  }

  #selection(): Selection {
    const { namespace, labelSelector, fieldSelector } = this.#options;
    return { namespace, labelSelector, fieldSelector };
  }

  /** managedFields of other managers are half of what a typical object weighs. */
  #strip(object: T): void {
    const { fieldManager } = this.#options;
    const kept = object.metadata.managedFields?.filter(
      ({ manager, operation }) => manager === fieldManager && operation === 'Apply',
    );
    Object.assign(object.metadata, { managedFields: kept });
  }
}
