import { backOff } from './back-off.ts';
import { jittered, type Clock, type Random } from './clock.ts';
import { Pace, type PaceOptions } from './pace.ts';
import { RecentUse } from './recent-use.ts';
import { probeMs, SharedFailures } from './retry-after-outage.ts';

/** Options of a queue. */
export interface WorkQueueOptions {
  /** Processes one key. A rejection requeues the key with back-off; a success resets the back-off. */
  readonly process: (key: string) => Promise<void>;
  /** Maximum number of keys that are processed concurrently. */
  readonly concurrency: number;
  /**
   * The group of a key. Of keys with the same priority, that of the group that has used workers the least lately is next, so that neither
   * many keys of one nor keys that take long keep another waiting. By default each key is one.
   */
  readonly groupOf?: (key: string) => string;
  /** How often one key is processed. By default there is no limit. */
  readonly pace?: PaceOptions;
  readonly clock: Clock;
  /** By default Math.random. */
  readonly random?: Random;
  /** Called for every rejection of `process`. */
  readonly onError?: (key: string, error: unknown) => void;
  /**
   * Whether other keys fail for the same reason. One of those that do is tried again after 10 s, and all once one has succeeded.
   * By default none is.
   */
  readonly isShared?: (error: unknown) => boolean;
}

/** What a key waits for, from what may wait to what has to be next. A higher number is next. */
export type Priority = number;

/** One of so many turns is that of the key that has waited the longest, so that no priority keeps another key waiting without end. */
const turnsToOldest = 4;

const delays = { firstMs: 5, longestMs: 60_000 };

/** A key that takes longer waits for something that is slow. */
const slowMs = 2_000;
/** The share of the workers that such keys may have, so that those of which a server makes a long wait leave room for the others. */
const slowShare = 0.5;

/**
 * The share of the workers for keys of groups that use much, as long as others have something to do: all workers share one thread, so that
 * each of them makes the others slower.
 */
const muchShare = { besideOthers: 0.2, otherwise: 0.5 };
/** Others have something to do until one of them has begun so long ago. */
const othersMs = 10_000;
/** What a turn counts besides its time, so that groups take turns that use no time. */
const turnMs = 1;

interface Due {
  readonly dueAt: number;
  readonly priority: Priority;
}

/**
 * A queue of keys. A key that is added several times is processed once, never concurrently, and again when it was added
 * during processing.
 */
export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #random: Random;
  readonly #pace: Pace | undefined;
  /** Keys in order of arrival, each with the time at which it became due, in the time of Clock.elapsed as all here. */
  readonly #ready = new Map<string, Due>();
  /** Keys that are processed, each with the time at which something of that began or ended last. */
  readonly #running = new Map<string, number>();
  /** Keys that have taken long the last time. */
  readonly #slow = new Set<string>();
  readonly #use = new RecentUse();
  /** When a key of a group that uses little has begun last. */
  #othersAt = -Infinity;
  /** Keys that were added during processing and are processed again. */
  readonly #requeueAt = new Map<string, Priority>();
  readonly #delayed = new Map<string, Due & { readonly cancel: () => void }>();
  readonly #failures = new Map<string, number>();
  readonly #shared = new SharedFailures();
  #cancelProbe: (() => void) | undefined;
  #turns = 0;
  /** When a key was begun or ended last. */
  #movedAt = -Infinity;
  #idleWaiters: (() => void)[] = [];
  #stopped = false;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
    this.#random = options.random ?? Math.random;
    this.#pace = options.pace && new Pace(options.pace, options.clock);
  }

  /** Number of keys that wait for a free worker, which the metric reports as depth. */
  get depth(): number {
    return this.#ready.size;
  }

  /** Since keys are due of which none has begun and none has ended, in milliseconds; 0 when none is due. */
  get undoneMs(): number {
    const now = this.#options.clock.elapsed();
    const due = [...this.#ready.values(), ...this.#delayed.values()].map(({ dueAt }) => dueAt);
    return Math.max(0, now - Math.max(this.#movedAt, Math.min(...due)));
  }

  /** The key whose processing has stood still the longest, and for how many milliseconds; undefined when none is processed. */
  get stillest(): { readonly key: string; readonly ms: number } | undefined {
    const [first] = [...this.#running].toSorted(([, one], [, other]) => one - other);
    return first && { key: first[0], ms: this.#options.clock.elapsed() - first[1] };
  }

  /** Notes that the processing of the key has not come to a standstill. */
  noteStep(key: string): void {
    if (this.#running.has(key)) this.#running.set(key, this.#options.clock.elapsed());
  }

  /** Processes the key as soon as a worker is free and its pace allows. */
  add(key: string, priority: Priority = 0): void {
    if (this.#stopped) return;
    const delayMs = this.#pace?.delayMs(key) ?? 0;
    if (this.#running.has(key)) this.#requeueAt.set(key, Math.max(priority, this.#requeueAt.get(key) ?? priority));
    else if (delayMs > 0) this.addAfter(key, delayMs, priority);
    else {
      const { dueAt, priority: before = priority } = this.#ready.get(key) ?? { dueAt: this.#options.clock.elapsed() };
      this.#ready.set(key, { dueAt, priority: Math.max(priority, before) });
    }
    this.#startWorkers();
  }

  /**
   * Processes the key after the delay. The earliest of several delays counts. A key that is processed earlier for
   * another reason loses its delay, because that run decides when the next one is due.
   */
  addAfter(key: string, delayMs: number, priority: Priority = 0): void {
    if (this.#stopped) return;
    if (delayMs <= 0) return this.add(key, priority);
    const dueAt = this.#options.clock.elapsed() + delayMs;
    const pending = this.#delayed.get(key);
    const highest = Math.max(priority, pending?.priority ?? priority);
    if (pending && pending.dueAt <= dueAt) {
      this.#delayed.set(key, { ...pending, priority: highest });
      return;
    }
    pending?.cancel();
    const cancel = this.#options.clock.setTimer(delayMs, () => {
      const { priority: latest } = this.#delayed.get(key) ?? { priority: highest };
      this.#delayed.delete(key);
      this.add(key, latest);
    });
    this.#delayed.set(key, { dueAt, priority: highest, cancel });
  }

  /** Processes the key after 5 ms. The delay doubles with each call until `forget`, up to 60 s. */
  addRateLimited(key: string, priority: Priority = 0): void {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    this.addAfter(key, jittered(backOff(delays, failures + 1), this.#random), priority);
  }

  /** Resets the back-off of the key. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** Processes all keys that have failed, as if they had not: what they failed for has ended. */
  retryFailed(): void {
    this.#retry([...this.#failures.keys()]);
  }

  /** Resolves when no key is ready or running. It does not wait for delayed keys. */
  drain(): Promise<void> {
    if (this.#isIdle()) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  /** Drops all keys that are not running, and resolves when the running ones are complete. */
  stop(): Promise<void> {
    this.#stopped = true;
    this.#ready.clear();
    this.#requeueAt.clear();
    for (const { cancel } of this.#delayed.values()) cancel();
    this.#delayed.clear();
    this.#cancelProbe?.();
    return this.drain();
  }

  #startWorkers(): void {
    while (this.#running.size < this.#options.concurrency) {
      const key = this.#next((this.#turns + 1) % turnsToOldest === 0);
      if (key === undefined) return;
      this.#turns += 1;
      const priority = this.#ready.get(key)?.priority;
      this.#ready.delete(key);
      this.#running.set(key, this.#options.clock.elapsed());
      void this.#work(key, priority);
    }
  }

  /**
   * The key with the highest priority, and of those the first one of the group that has used the least lately; or the key that has waited
   * the longest. Undefined if none may begin.
   */
  #next(isOldest: boolean): string | undefined {
    const now = this.#options.clock.elapsed();
    const usesMuch = (key: string) => this.#use.isMuch(this.#groupOf(key), now);
    const { besideOthers, otherwise } = muchShare;
    const share = now - this.#othersAt < othersMs ? besideOthers : otherwise;
    const mayBeSlow = this.#hasRoom((key) => this.#slow.has(key), slowShare);
    const mayUseMuch = this.#hasRoom(usesMuch, share);
    let next: { readonly key: string; readonly priority: number; readonly use: number } | undefined;
    for (const [key, { priority }] of this.#ready) {
      if (next && priority < next.priority) continue;
      if ((!mayBeSlow && this.#slow.has(key)) || (!mayUseMuch && usesMuch(key))) continue;
      if (isOldest) return key;
      const use = this.#use.of(this.#groupOf(key), now);
      if (!next || priority > next.priority || use < next.use) next = { key, priority, use };
    }
    return next?.key;
  }

  /** Whether another such key may be processed. */
  #hasRoom(isSuch: (key: string) => boolean, share: number): boolean {
    const running = [...this.#running.keys()].filter(isSuch).length;
    return running < Math.max(1, Math.floor(this.#options.concurrency * share));
  }

  #groupOf(key: string): string {
    return this.#options.groupOf?.(key) ?? key;
  }

  async #work(key: string, priority: Priority | undefined): Promise<void> {
    this.#delayed.get(key)?.cancel();
    this.#delayed.delete(key);
    this.#pace?.count(key);
    const group = this.#groupOf(key);
    const begunAt = this.#options.clock.elapsed();
    if (!this.#use.isMuch(group, begunAt)) this.#othersAt = begunAt;
    this.#use.add(group, turnMs, begunAt);
    this.#movedAt = begunAt;
    const failures = this.#failures.get(key);
    try {
      await this.#options.process(key);
      // Unless it requested back-off without failing.
      if (this.#failures.get(key) === failures) this.forget(key);
      this.#retry(this.#shared.succeeded(key, this.#options.clock.elapsed()));
    } catch (error) {
      this.#options.onError?.(key, error);
      this.#shared.failed(key, this.#options.isShared?.(error) ?? false);
      this.addRateLimited(key, priority);
      this.#planProbe();
    } finally {
      this.#movedAt = this.#options.clock.elapsed();
      // All workers share one thread: while ten of them work, each has a tenth of it.
      this.#use.add(group, (this.#movedAt - begunAt) / this.#running.size, this.#movedAt);
      if (this.#movedAt - begunAt > slowMs) this.#slow.add(key);
      else this.#slow.delete(key);
      this.#running.delete(key);
      const again = this.#requeueAt.get(key);
      this.#requeueAt.delete(key);
      if (again === undefined) this.#startWorkers();
      else this.add(key, again);
      if (this.#isIdle()) this.#rest();
    }
  }

  /** Processes keys as if they had not failed. */
  #retry(keys: readonly string[]): void {
    for (const key of keys) {
      this.forget(key);
      if (!this.#running.has(key)) this.add(key);
    }
  }

  #planProbe(): void {
    if (this.#stopped || this.#cancelProbe || this.#shared.isEmpty) return;
    this.#cancelProbe = this.#options.clock.setTimer(jittered(probeMs, this.#random), () => {
      this.#cancelProbe = undefined;
      const key = this.#shared.nextProbe((one) => this.#running.has(one));
      if (key !== undefined) this.add(key);
      this.#planProbe();
    });
  }

  #isIdle(): boolean {
    return this.#ready.size === 0 && this.#running.size === 0;
  }

  #rest(): void {
    const waiters = this.#idleWaiters;
    this.#idleWaiters = [];
    for (const resolve of waiters) resolve();
  }
}
