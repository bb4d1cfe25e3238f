import { backOff } from './back-off.ts';
import type { Resource } from '../../constructs/api/resources.ts';
import type { KubernetesApi } from './client.ts';
import type { ListOptions, Selection } from './client-options.ts';
import { jittered, pause, type Clock, type Random } from './clock.ts';
import { isGone, isNotServed, isSilent, isTooLarge, isUnreachable } from './errors.ts';
import { isOlder, type KubeObject, requireVersion } from './object.ts';

/** The target of a reflector. */
export interface ReflectorSink<T extends KubeObject> {
  /** What to keep of the objects of one list: see `keeper` of {@link ListOptions}. By default everything. */
  readonly keeper?: ListOptions<T>['keeper'];
  /** A list was not read to its end: nothing of it is kept. */
  giveUp?(): void;
  /**
   * Replaces all objects.
   * @param isRestored the server's versions have gone back since the last list: an object with a known version may have
   * another content
   */
  replace(objects: readonly T[], isRestored: boolean): void;
  put(object: T): void;
  remove(object: T): void;
}

/** Options of a reflector. */
export interface ReflectorOptions extends Selection {
  readonly client: KubernetesApi;
  readonly resource: Resource;
  readonly clock: Clock;
  /** By default Math.random. */
  readonly random?: Random;
  /** Called for every failed list and broken watch. The reflector continues. */
  readonly onError?: (error: unknown) => void;
  /**
   * Called when the server's versions have gone back, because its etcd was restored from a backup: nothing that is
   * remembered of its objects is valid. The objects as they are now follow. By default not called.
   */
  readonly onRestored?: (() => void) | undefined;
  /** Called when the server answers again after a watch was interrupted. By default not called. */
  readonly onResumed?: (() => void) | undefined;
  /** Called when the server answers again after it did not. By default not called. */
  readonly onReturned?: (() => void) | undefined;
  /**
   * Whether the server may stop serving the resource, such as by an argument of the API server. There are no objects
   * then. By default that is an error like any other, and the last known objects stay.
   */
  readonly mayBeUnserved?: boolean | undefined;
  /**
   * Whether it only lists: at the start, and at each call of `relist`. A watch costs memory, and its bookmarks processor time. By default
   * it watches.
   */
  readonly isListed?: boolean | undefined;
  /**
   * Duration of one watch in seconds, before jitter. By default 1500. One on which nothing arrives ends earlier.
   */
  readonly watchSeconds?: number;
  /** Time without a byte after which a watch ends. By default that of {@link WatchOptions}. */
  readonly silenceMs?: number;
}

const delays = { firstMs: 100, longestMs: 15_000 };

/** Every attempt reads as much as is allowed. */
const tooLargeRestMs = 5 * 60_000;

/** After this time without a failure, the back-off starts again at its first delay. */
const healthyMs = 10_000;
const shortestMs = 1_000;

/** A watch that ends earlier than this before its time was interrupted. */
const watchSlackMs = 5_000;

/** Resolves with false, which is no interruption, once the signal has aborted. */
function aborted(signal: AbortSignal): Promise<false> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(false);
    signal.addEventListener('abort', () => resolve(false), { once: true });
  });
}

/** Mirrors the objects of one resource into a sink, and recovers from all failures of the server. */
export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions;
  readonly #sink: ReflectorSink<T>;
  readonly #random: Random;
  readonly #synced = Promise.withResolvers<void>();
  #relisted: PromiseWithResolvers<void> | undefined;
  /** Ends the list or watch that runs. */
  #round = new AbortController();
  #resourceVersion: string | undefined;
  /** The newest version that was seen, also after it became unusable. */
  #newest = '0';
  #isSynced = false;
  #problem: Error | undefined;
  #activeAt: number;
  #movedAt: number;
  /** How many watches in a row have received nothing, since the last list. */
  #silences = 0;

  constructor(options: ReflectorOptions, sink: ReflectorSink<T>) {
    this.#options = options;
    this.#sink = sink;
    this.#random = options.random ?? Math.random;
    this.#activeAt = this.#movedAt = options.clock.elapsed();
  }

  /** Resolves after the first complete list. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  /** Whether the first complete list is in the sink. */
  get isSynced(): boolean {
    return this.#isSynced;
  }

  /** When the server has sent a list, an event or a bookmark last, in the time of Clock.elapsed. */
  get activeAt(): number {
    return this.#activeAt;
  }

  /** When it has received something, has failed or has begun again last, in the time of Clock.elapsed. */
  get movedAt(): number {
    return this.#movedAt;
  }

  /** Why it does not follow the server: the server has more than may be read or held. It tries again at intervals. */
  get problem(): Error | undefined {
    return this.#problem;
  }

  /** Version up to which all changes are in the sink; undefined while it is unknown. */
  get resourceVersion(): string | undefined {
    return this.#resourceVersion;
  }

  /** Notes the version of an object of this resource that was written. A later list that is older has another history. */
  noteVersion(resourceVersion: string): void {
    if (isOlder(this.#newest, resourceVersion)) this.#newest = resourceVersion;
  }

  /** Lists again at once, and watches from there. Resolves after the next complete list. */
  relist(): Promise<void> {
    this.#relisted ??= Promise.withResolvers<void>();
    this.#round.abort();
    return this.#relisted.promise;
  }

  /** Lists and watches until the signal aborts. Never rejects. */
  async run(stopping: AbortSignal): Promise<void> {
    for (let failures = 0, wasInterrupted = false, wasUnreachable = false; !stopping.aborted;) {
      const beganAt = (this.#movedAt = this.#options.clock.elapsed());
      if (this.#round.signal.aborted) this.#resourceVersion = undefined;
      const round = (this.#round = new AbortController());
      const signal = AbortSignal.any([stopping, round.signal]);
      try {
        if (wasInterrupted) await this.#requireSameHistory(signal);
        if (this.#resourceVersion === undefined) await this.#list(signal);
        if (wasInterrupted) this.#options.onResumed?.();
        if (wasUnreachable) this.#options.onReturned?.();
        wasUnreachable = false;
        wasInterrupted = this.#options.isListed ? await aborted(signal) : await this.#watch(signal);
        failures = 0;
      } catch (error) {
        this.#sink.giveUp?.();
        if (stopping.aborted) return;
        if (round.signal.aborted) continue;
        wasInterrupted = true;
        wasUnreachable ||= isUnreachable(error);
        // A server without bookmarks is no failure, and a dead connection is already replaced.
        if (isSilent(error) && ++this.#silences === 1) continue;
        if (this.#options.clock.elapsed() - beganAt >= healthyMs) failures = 0;
        await pause(this.#options.clock, this.#recover(error, failures++), stopping);
      }
    }
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { client, resource } = this.#options;
    const { keeper } = this.#sink;
    // What is written meanwhile may be newer than the list.
    const newest = this.#newest;
    const { items, resourceVersion } = await client.list<T>(resource, { ...this.#selection(), keeper, signal });
    this.#problem = undefined;
    this.#silences = 0;
    this.#noteActive();
    this.#isSynced = true;
    const isRestored = isOlder(resourceVersion, newest);
    this.#resourceVersion = this.#newest = resourceVersion;
    if (isRestored) this.#options.onRestored?.();
    this.#sink.replace(items, isRestored);
    this.#synced.resolve();
    if (signal.aborted) return;
    this.#relisted?.resolve();
    this.#relisted = undefined;
  }

  /**
   * A server whose etcd was restored from a backup goes back to older versions. It accepts a watch from a version that
   * is still to come, and sends nothing until then: after an interruption, which every restore causes, list again.
   */
  async #requireSameHistory(signal: AbortSignal): Promise<void> {
    if (this.#resourceVersion === undefined) return;
    const { client, resource } = this.#options;
    const current = await client.currentVersion(resource, { ...this.#selection(), signal });
    if (isOlder(current, this.#resourceVersion)) this.#resourceVersion = undefined;
  }

  /** Returns whether the watch ended before its time. */
  async #watch(signal: AbortSignal): Promise<boolean> {
    const { client, resource, clock, watchSeconds = 1500, silenceMs } = this.#options;
    const timeoutSeconds = Math.ceil(jittered(watchSeconds, this.#random));
    const resourceVersion = this.#resourceVersion;
    const options = { ...this.#selection(), resourceVersion, timeoutSeconds, silenceMs, signal };
    const beganAt = clock.elapsed();
    for await (const event of client.watch<T>(resource, options)) {
      this.#noteActive();
      this.#silences = 0;
      if (event.type === 'BOOKMARK') this.#advance(event.resourceVersion);
      else this.#take(event.type, event.object);
    }
    this.#noteActive();
    const lastedMs = clock.elapsed() - beganAt;
    // A proxy, a terminating server or a malicious one may end every watch immediately. Back off in that case.
    if (lastedMs < shortestMs) throw new Error(`the watch of ${resource.plural} ended immediately`);
    return lastedMs < timeoutSeconds * 1000 - watchSlackMs;
  }

  #noteActive(): void {
    this.#activeAt = this.#movedAt = this.#options.clock.elapsed();
  }

  #take(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void {
    this.#reach(object.metadata.resourceVersion);
    if (type === 'DELETED') this.#sink.remove(object);
    else this.#sink.put(object);
  }

  #reach(resourceVersion: string | undefined): void {
    if (resourceVersion !== undefined) requireVersion(resourceVersion);
    this.#resourceVersion = resourceVersion;
    this.#newest = resourceVersion ?? this.#newest;
  }

  /** An older version is a sign of a restored server, too. */
  #advance(resourceVersion: string): void {
    if (isOlder(resourceVersion, this.#resourceVersion ?? '0')) {
      this.#resourceVersion = undefined;
      const { plural } = this.#options.resource;
      throw new Error(`the watch of ${plural} went back to version ${resourceVersion}: listing again`);
    }
    this.#reach(resourceVersion);
  }

  /** Resets the state after a failure if needed, and returns the delay. */
  #recover(error: unknown, failures: number): number {
    // One that is silent again and again may be deaf itself: a list shows what its watch does not.
    if (isGone(error) || isTooLarge(error) || isSilent(error)) this.#resourceVersion = undefined;
    if (isTooLarge(error)) this.#problem = error as Error;
    if (this.#options.mayBeUnserved && isNotServed(error)) this.#empty();
    this.#options.onError?.(error);
    if (isTooLarge(error)) return jittered(tooLargeRestMs, this.#random);
    return jittered(backOff(delays, failures + 1), this.#random);
  }

  #empty(): void {
    this.#resourceVersion = undefined;
    this.#isSynced = true;
    this.#sink.replace([], false);
    this.#synced.resolve();
  }

  #selection(): Selection {
    const { namespace, labelSelector, fieldSelector, metadataOnly } = this.#options;
    return { namespace, labelSelector, fieldSelector, metadataOnly };
  }
}
