import type { CustomResourceDefinitionObject } from '../../imports/kubernetes.ts';
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

export interface OptionalApiOptions extends Omit<InformerOptions, 'resource' | 'optional'> {
  /** The versions that the operator supports, the preferred one first. */
  readonly known: readonly Resource[];
}

type Handler = (change: ObjectChange<KubeObject>) => void;

/**
 * Maximum wait for the first list. An API that is served but cannot be read, for example because its conversion webhook
 * is unavailable, must not prevent the start of the operator.
 */
const patienceMs = 10_000;

/**
 * Objects of an API that may be installed or removed at any time, in any version. Its definition is watched by name.
 * While it exists, its objects are watched in the preferred served version.
 */
export class OptionalApi {
  /** The API in its preferred version. */
  readonly resource: Resource;
  /** The namespace that it is limited to; all namespaces when undefined. */
  readonly namespace: string | undefined;
  readonly #options: OptionalApiOptions;
  readonly #definition: Reflector<CustomResourceDefinitionObject>;
  readonly #stopping = new AbortController();
  readonly #handlers = new Set<Handler>();
  readonly #servedHandlers = new Set<() => void>();
  #running: Promise<void> | undefined;
  /** Versions that the definition serves. */
  #wanted: readonly Resource[] = [];
  /** Versions whose objects have been read. */
  #served: readonly Resource[] = [];
  #informer: Informer | undefined;
  #endSubscription: () => void = () => {};
  /** Replaces the informer once it has listed all objects. */
  #next: Informer | undefined;
  #changing: Promise<void> = Promise.resolve();
  /** Ends the wait for the next informer. */
  #waiting = new AbortController();

  constructor(options: OptionalApiOptions) {
    const [best] = options.known;
    if (!best) throw new Error('an optional API needs at least one supported version');
    this.resource = best;
    this.namespace = options.namespace;
    this.#options = options;
    const { client, clock, onError } = options;
    const fieldSelector = `metadata.name=${definitionName(best)}`;
    this.#definition = new Reflector<CustomResourceDefinitionObject>(
      { client, clock, fieldSelector, resource: CustomResourceDefinition, ...(onError ? { onError } : {}) },
      {
        replace: ([definition]) => this.#follow(definition),
        put: (definition) => this.#follow(definition),
        remove: () => this.#follow(undefined),
      },
    );
  }

  /** Resolves when it is known whether the API is served and, if it is, when its objects have been listed. */
  get synced(): Promise<void> {
    return this.#definition.synced.then(() => this.#settled());
  }

  /** When the server has sent something last, in the time of Clock.elapsed. */
  get activeAt(): number {
    return Math.max(this.#definition.activeAt, this.#informer?.activeAt ?? -Infinity);
  }

  /** When the watch that has stood still the longest has moved last, in the time of Clock.elapsed. */
  get movedAt(): number {
    return Math.min(this.#definition.movedAt, this.#informer?.movedAt ?? Infinity);
  }

  /** Why its objects cannot be followed. */
  get problem(): Error | undefined {
    return this.#informer?.problem;
  }

  /** Served versions that the operator supports, the preferred one first; empty when there are none. */
  get versions(): readonly string[] {
    return this.#served.map(versionOf);
  }

  /** Whether it is known if the API is served. */
  get isSynced(): boolean {
    return this.#definition.isSynced;
  }

  /** Whether it watches the resource, in any version. */
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

  byLabel(label: string, value: string, namespace: string | undefined): KubeObject[] {
    return this.#informer?.byLabel(label, value, namespace) ?? [];
  }

  /** Registers a handler for every change from now on. Existing objects are reported as `added`. */
  onChange(handler: Handler): () => void {
    this.#handlers.add(handler);
    for (const object of this.list()) this.#call(handler, { type: 'added', object });
    return () => this.#handlers.delete(handler);
  }

  /** Registers a handler for changes of the served versions. */
  onServed(handler: () => void): void {
    this.#servedHandlers.add(handler);
  }

  /** Lists all objects again, if there are any. Resolves when they are in memory. */
  async relist(): Promise<void> {
    await this.#informer?.relist();
  }

  start(): void {
    this.#running ??= this.#definition.run(this.#stopping.signal);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#waiting.abort();
    await Promise.all([this.#running, this.#informer?.stop(), this.#next?.stop()]);
  }

  #follow(definition: CustomResourceDefinitionObject | undefined): void {
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

  /** A definition may change again while the previous change is being processed. */
  async #settled(): Promise<void> {
    for (let followed: Promise<void> | undefined; followed !== this.#changing;) {
      followed = this.#changing;
      await followed;
    }
  }

  /** Keeps the current informer until all objects have been listed in the other version. */
  async #read(resource: Resource, wanted: readonly Resource[]): Promise<void> {
    const waiting = new AbortController();
    this.#waiting = waiting;
    const next = new Informer({
      ...this.#options,
      resource,
      onError: (error) => {
        // The definition reports that the API was removed or is not served yet.
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
        new Error(`cannot handle a change of ${this.resource.kind} ${objectKey(change.object.metadata)}`, {
          cause: error,
        }),
      );
    }
  }
}

/**
 * The supported versions that a definition serves, in the same order; none while it is not established or is being
 * deleted, because requests would fail.
 */
export function servedVersions(
  definition: CustomResourceDefinitionObject | undefined,
  known: readonly Resource[],
): Resource[] {
  const { metadata, spec, status } = definition ?? {};
  const isEstablished = status?.conditions?.some(
    ({ type, status: value }) => type === 'Established' && value === 'True',
  );
  if (!isEstablished || metadata?.deletionTimestamp) return [];
  const served = new Set(spec?.versions?.filter((version) => version.served).map(({ name }) => name));
  return known.filter((resource) => served.has(versionOf(resource)));
}
