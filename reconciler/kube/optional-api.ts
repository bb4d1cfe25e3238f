import {
  CustomResourceDefinition,
  definitionName,
  groupOf,
  type Resource,
  versionOf,
} from '../../constructs/api/resources.ts';
import { pause } from './clock.ts';
import { isNotFound } from './errors.ts';
import { Informer, type InformerOptions } from './informer.ts';
import type { ObjectChange } from './object-cache.ts';
import { type KubeObject, objectKey, type ObjectName } from './object.ts';
import { Reflector } from './reflector.ts';
import { type DefinitionObject, servedVersions } from './served-versions.ts';

export interface OptionalApiOptions extends Omit<InformerOptions, 'resource' | 'optional'> {
  /** The versions of it that we know, the best first. */
  readonly known: readonly Resource[];
}

type Handler = (change: ObjectChange<KubeObject>) => void;

/** An API that is served but cannot be read, as with a conversion webhook that is away, must not keep an operator from starting. */
const patienceMs = 10_000;

/**
 * Objects of an API that may be installed or not, now or later, in one version or another. Its definition is watched by
 * name, and its objects are while it is there, in the best version that is served.
 */
export class OptionalApi {
  /** The API in the best of its versions. */
  readonly resource: Resource;
  /** The namespace it is limited to; all when undefined. */
  readonly namespace: string | undefined;
  readonly #options: OptionalApiOptions;
  readonly #definition: Reflector<DefinitionObject>;
  readonly #stopping = new AbortController();
  readonly #handlers = new Set<Handler>();
  readonly #servedHandlers = new Set<() => void>();
  #running: Promise<void> | undefined;
  /** What the definition says. */
  #wanted: readonly Resource[] = [];
  /** What objects are read in, once they have been. */
  #served: readonly Resource[] = [];
  #informer: Informer | undefined;
  #endSubscription: () => void = () => {};
  /** Takes the place of the informer when it has seen everything. */
  #next: Informer | undefined;
  #changing: Promise<void> = Promise.resolve();
  /** Ends the wait for the next informer. */
  #waiting = new AbortController();

  constructor(options: OptionalApiOptions) {
    const [best] = options.known;
    if (!best) throw new Error('an optional API needs at least one version that is known');
    this.resource = best;
    this.namespace = options.namespace;
    this.#options = options;
    const { client, clock, onError } = options;
    const fieldSelector = `metadata.name=${definitionName(best)}`;
    this.#definition = new Reflector<DefinitionObject>(
      { client, clock, fieldSelector, resource: CustomResourceDefinition, ...(onError ? { onError } : {}) },
      {
        replace: ([definition]) => this.#follow(definition),
        put: (definition) => this.#follow(definition),
        remove: () => this.#follow(undefined),
      },
    );
  }

  /** Resolves when it is known whether the API is served and, if it is, its objects have been seen once. */
  get synced(): Promise<void> {
    return this.#definition.synced.then(() => this.#settled());
  }

  /** When the server last said anything about the API's existence, in milliseconds since the epoch. */
  get lastSeen(): number {
    return this.#definition.lastSeen;
  }

  /** Known versions that are served, the best first; empty while there are none. */
  get versions(): readonly string[] {
    return this.#served.map(versionOf);
  }

  /** Whether it is known if the API is served. */
  get isSynced(): boolean {
    return this.#definition.isSynced;
  }

  /** Whether this is about objects of the resource, in whichever version. */
  watches({ apiVersion, kind }: Resource): boolean {
    return kind === this.resource.kind && groupOf({ apiVersion }) === groupOf(this.resource);
  }

  hasSeen(resourceVersion: string): boolean {
    return this.#informer?.hasSeen(resourceVersion) ?? true;
  }

  get(name: ObjectName): KubeObject | undefined {
    return this.#informer?.get(name);
  }

  list(): KubeObject[] {
    return this.#informer?.list() ?? [];
  }

  byLabel(label: string, value: string): KubeObject[] {
    return this.#informer?.byLabel(label, value) ?? [];
  }

  /** Calls back with every change of an object from now on; what is here already comes as `added`. */
  onChange(handler: Handler): () => void {
    this.#handlers.add(handler);
    for (const object of this.list()) this.#call(handler, { type: 'added', object });
    return () => this.#handlers.delete(handler);
  }

  /** Calls back when other versions are served than before. */
  onServed(handler: () => void): void {
    this.#servedHandlers.add(handler);
  }

  start(): void {
    this.#running ??= this.#definition.run(this.#stopping.signal);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#waiting.abort();
    await Promise.all([this.#running, this.#informer?.stop(), this.#next?.stop()]);
  }

  #follow(definition: DefinitionObject | undefined): void {
    const wanted = servedVersions(definition, this.#options.known);
    if (wanted.map(versionOf).join() === this.#wanted.map(versionOf).join()) return;
    this.#wanted = wanted;
    void this.#next?.stop();
    this.#next = undefined;
    this.#waiting.abort();
    const [best] = wanted;
    if (best === this.#informer?.resource) this.#become(this.#informer, wanted);
    else if (!best) this.#become(undefined, wanted);
    else this.#changing = this.#read(best, wanted);
  }

  /** A definition may change again while the last change is followed. */
  async #settled(): Promise<void> {
    for (let followed: Promise<void> | undefined; followed !== this.#changing;) {
      followed = this.#changing;
      await followed;
    }
  }

  /** Goes on with what is known until everything has been read in the other version. */
  async #read(resource: Resource, wanted: readonly Resource[]): Promise<void> {
    const waiting = new AbortController();
    this.#waiting = waiting;
    const next = new Informer({
      ...this.#options,
      resource,
      onError: (error) => {
        // That the API is gone, or not quite there yet, the definition tells.
        if (!isNotFound(error)) this.#options.onError?.(error);
      },
    });
    this.#next = next;
    next.start();
    await Promise.race([next.synced, pause(this.#options.clock, patienceMs, waiting.signal)]);
    waiting.abort();
    if (this.#next !== next || this.#stopping.signal.aborted) return;
    this.#next = undefined;
    this.#become(next, wanted);
  }

  #become(next: Informer | undefined, served: readonly Resource[]): void {
    const old = this.#informer;
    this.#served = served;
    if (next !== old) {
      this.#informer = next;
      this.#endSubscription();
      void old?.stop();
      const gone = old?.list().filter(({ metadata }) => !next?.get(metadata)) ?? [];
      for (const object of gone) this.#announce({ type: 'deleted', object });
      this.#endSubscription = next?.onChange((change) => this.#announce(change)) ?? (() => {});
    }
    for (const handler of this.#servedHandlers) handler();
  }

  #announce(change: ObjectChange<KubeObject>): void {
    for (const handler of this.#handlers) this.#call(handler, change);
  }

  #call(handler: Handler, change: ObjectChange<KubeObject>): void {
    try {
      handler(change);
    } catch (error) {
      this.#options.onError?.(
        new Error(`hear of ${this.resource.kind} ${objectKey(change.object.metadata)}`, { cause: error }),
      );
    }
  }
}
