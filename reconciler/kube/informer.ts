import type { Resource } from '../../constructs/api/resources.ts';
import { decisiveManagedFields } from './apply-decision.ts';
import type { ObjectRoom } from './cache-budget.ts';
import { ObjectCache, type ObjectChange } from './object-cache.ts';
import { isOlder, type KubeObject, type ObjectName } from './object.ts';
import { Reflector, type ReflectorOptions } from './reflector.ts';
import { detached } from './span.ts';

/** Options of an informer. `onError` is also called for errors of handlers. */
export interface InformerOptions extends ReflectorOptions {
  /** What is kept of each object, besides its kind. By default everything. */
  readonly keep?: ((object: KubeObject) => KubeObject) | undefined;
  /** The memory that it shares with other informers. By default without limit. */
  readonly room?: ObjectRoom | undefined;
  /** Keep of managedFields what decides whether this manager applies the object. By default nothing is kept. */
  readonly fieldManager?: string | undefined;
  /** Labels that `byLabel` supports. By default none. */
  readonly indexedLabels?: readonly string[];
}

/** In a list, an object for which there is no room. */
const unheld: KubeObject = { apiVersion: '', kind: '', metadata: { name: '' } };

type Handler<T extends KubeObject> = (change: ObjectChange<T>) => void;

/** Keeps the objects of one resource in memory and reports every change. */
export class Informer<T extends KubeObject = KubeObject> {
  readonly resource: Resource;
  /** The namespace that it is limited to; all namespaces when undefined. */
  readonly namespace: string | undefined;
  readonly #options: InformerOptions;
  readonly #cache: ObjectCache<T>;
  readonly #reflector: Reflector<T>;
  readonly #handlers = new Set<Handler<T>>();
  readonly #stopping = new AbortController();
  /** Holder of what a list has so far, until it is complete. */
  readonly #listing = {};
  #running: Promise<void> | undefined;

  constructor(options: InformerOptions) {
    this.resource = options.resource;
    this.namespace = options.namespace;
    this.#options = options;
    this.#cache = new ObjectCache(options.indexedLabels ?? []);
    this.#reflector = new Reflector<T>(options, {
      keeper: () => this.#keeper(),
      giveUp: () => options.room?.clear(this.#listing),
      replace: (listed, isRestored) => {
        const objects = listed.filter((object) => object !== unheld);
        options.room?.clear(this.#listing);
        options.room?.set(this, objects);
        this.#announce(this.#cache.replace(objects, isRestored));
      },
      put: (object) => {
        const kept = this.#stripped(object);
        if (options.room?.add(this, kept, this.#cache.get(kept.metadata)) === false) return;
        this.#announce([this.#cache.put(kept)]);
      },
      remove: (object) => {
        options.room?.remove(this, this.#cache.get(object.metadata));
        this.#announce([this.#cache.remove(object.metadata, this.#stripped(object))]);
      },
    });
  }

  /** Whether it watches the resource. */
  watches(resource: Resource): boolean {
    return resource === this.resource;
  }

  /** Whether it only lists its objects: it knows them as they were at the last list. */
  get isListed(): boolean {
    return this.#options.isListed ?? false;
  }

  /** Resolves after the first complete list. */
  get synced(): Promise<void> {
    return this.#reflector.synced;
  }

  /** Whether the first complete list has been seen. */
  get isSynced(): boolean {
    return this.#reflector.isSynced;
  }

  /** Why it does not follow the server: the server has more than may be read or held. */
  get problem(): Error | undefined {
    return this.#reflector.problem;
  }

  /** When the server has sent something last, in the time of Clock.elapsed. */
  get activeAt(): number {
    return this.#reflector.activeAt;
  }

  /** When it has received something, has failed or has begun again last, in the time of Clock.elapsed. */
  get movedAt(): number {
    return this.#reflector.movedAt;
  }

  /**
   * Whether everything up to this version of the resource is in memory. An object that was written at that version and
   * is not in memory has been deleted since.
   */
  hasSeen(resourceVersion: string): boolean {
    const seen = this.#reflector.resourceVersion;
    return seen !== undefined && !isOlder(seen, resourceVersion);
  }

  get(name: ObjectName): T | undefined {
    return this.#cache.get(name);
  }

  list(): T[] {
    return this.#cache.list();
  }

  /** The objects of a namespace whose label has this value. Throws when the label is not indexed. */
  byLabel(label: string, value: string, namespace: string | undefined): T[] {
    return this.#cache.byLabel(label, value, namespace);
  }

  /**
   * Registers a handler for every change from now on. Existing objects are reported as `added`. Returns a function that
   * removes the handler.
   */
  onChange(handler: Handler<T>): () => void {
    this.#handlers.add(handler);
    for (const object of this.list()) this.#call(handler, { type: 'added', object });
    return () => this.#handlers.delete(handler);
  }

  /** Notes the version of an object of this resource that was written. */
  noteVersion(resourceVersion: string): void {
    this.#reflector.noteVersion(resourceVersion);
  }

  /** Lists and watches until `stop`. */
  start(): void {
    this.#running ??= detached(() => this.#reflector.run(this.#stopping.signal));
  }

  /** Lists all objects again: there may be room now for those that it had to leave out. Resolves when they are in memory. */
  relist(): Promise<void> {
    return this.#reflector.relist();
  }

  /** Stops immediately. Objects in memory stay readable. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  #announce(changes: readonly (ObjectChange<T> | undefined)[]): void {
    for (const change of changes) {
      if (change) for (const handler of this.#handlers) this.#call(handler, change);
    }
  }

  #call(handler: Handler<T>, change: ObjectChange<T>): void {
    try {
      handler(change);
    } catch (error) {
      this.#options.onError?.(error);
    }
  }

  /**
   * Counts from the first object on, so that a list that is too long is not read to its end. An object without room for its new state stays
   * as it was.
   */
  #keeper(): (object: T) => T {
    const { room } = this.#options;
    room?.clear(this.#listing);
    return (object) => {
      const kept = this.#stripped(object);
      const old = this.#cache.get(kept.metadata);
      return room?.addListed(this.#listing, kept, old) === false ? (old ?? (unheld as T)) : kept;
    };
  }

  /** managedFields are more than half of a typical object. A metadata watch returns another kind. */
  #stripped(object: T): T {
    const { fieldManager, keep = (one: KubeObject) => one } = this.#options;
    const managedFields = fieldManager === undefined ? undefined : decisiveManagedFields(object, fieldManager);
    const { apiVersion, kind } = this.resource;
    return keep({ ...object, apiVersion, kind, metadata: { ...object.metadata, managedFields } }) as T;
  }
}
