import { backOff } from './back-off.ts';
import { jittered, type Clock, type Random } from './clock.ts';

/** What a queue needs. */
export interface WorkQueueOptions {
  /** Works on one key. A rejection puts the key back with back-off; anything else forgets its earlier failures. */
  readonly process: (key: string) => Promise<void>;
  /** How many keys are worked on at once. */
  readonly concurrency: number;
  readonly clock: Clock;
  /** By default Math.random. */
  readonly random?: Random;
  /** Hears every rejection of `process`. */
  readonly onError?: (key: string, error: unknown) => void;
}

const delays = { firstMs: 5, longestMs: 60_000 };

/**
 * Keys to work on. However often a key is added it is worked on once, never twice at the same time, and once more when
 * it was added meanwhile.
 */
export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #random: Random;
  /** In order of arrival. */
  readonly #ready = new Set<string>();
  readonly #running = new Set<string>();
  /** Added while running: to be worked on once more. */
  readonly #requeueAt = new Set<string>();
  readonly #delayed = new Map<string, { readonly dueAt: number; readonly cancel: () => void }>();
  readonly #failures = new Map<string, number>();
  #idleWaiters: (() => void)[] = [];
  #stopped = false;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
    this.#random = options.random ?? Math.random;
  }

  /** Keys that wait for a free worker: what a metric calls depth. */
  get depth(): number {
    return this.#ready.size;
  }

  /** Has the key worked on as soon as a worker is free. */
  add(key: string): void {
    if (this.#stopped) return;
    if (this.#running.has(key)) this.#requeueAt.add(key);
    else this.#ready.add(key);
    this.#startWorkers();
  }

  /**
   * Has the key worked on after the delay. Of several delays the one that ends first counts, and a key that is worked
   * on earlier for another reason loses its delay: that run decides anew when the next one is due.
   */
  addAfter(key: string, delayMs: number): void {
    if (this.#stopped) return;
    if (delayMs <= 0) return this.add(key);
    const dueAt = this.#options.clock.now() + delayMs;
    const pending = this.#delayed.get(key);
    if (pending && pending.dueAt <= dueAt) return;
    pending?.cancel();
    const cancel = this.#options.clock.setTimer(delayMs, () => {
      this.#delayed.delete(key);
      this.add(key);
    });
    this.#delayed.set(key, { dueAt, cancel });
  }

  /** Has the key worked on after 5 ms, and twice as long with each call until `forget`, at most 60 s. */
  addRateLimited(key: string): void {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    this.addAfter(key, jittered(backOff(delays, failures + 1), this.#random));
  }

  /** Begins the back-off of the key anew. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** Resolves when nothing is ready or running. Keys with a delay are not waited for. */
  drain(): Promise<void> {
    if (this.#isIdle()) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  /** Drops everything that has not begun and resolves when what has begun is finished. */
  stop(): Promise<void> {
    this.#stopped = true;
    this.#ready.clear();
    this.#requeueAt.clear();
    for (const { cancel } of this.#delayed.values()) cancel();
    this.#delayed.clear();
    return this.drain();
  }

  #startWorkers(): void {
    for (const key of this.#ready) {
      if (this.#running.size >= this.#options.concurrency) return;
      this.#ready.delete(key);
      this.#running.add(key);
      void this.#work(key);
    }
  }

  async #work(key: string): Promise<void> {
    this.#delayed.get(key)?.cancel();
    this.#delayed.delete(key);
    const failures = this.#failures.get(key);
    try {
      await this.#options.process(key);
      // Unless it asked for back-off itself, without failing.
      if (this.#failures.get(key) === failures) this.forget(key);
    } catch (error) {
      this.#options.onError?.(key, error);
      this.addRateLimited(key);
    } finally {
      this.#running.delete(key);
      if (this.#requeueAt.delete(key)) this.#ready.add(key);
      this.#startWorkers();
      if (this.#isIdle()) this.#releaseIdleWaiters();
    }
  }

  #isIdle(): boolean {
    return this.#ready.size === 0 && this.#running.size === 0;
  }

  #releaseIdleWaiters(): void {
    const waiters = this.#idleWaiters;
    this.#idleWaiters = [];
    for (const resolve of waiters) resolve();
  }
}
