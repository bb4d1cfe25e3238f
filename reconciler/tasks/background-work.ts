import type { Clock } from '../kube/clock.ts';

/** What is known of one piece of slow work. */
export type WorkState<T = unknown> =
  /** Never begun, or forgotten. */
  | { readonly kind: 'idle' }
  | { readonly kind: 'running'; readonly inputsKey: string; readonly since: Date; readonly progress: string }
  | { readonly kind: 'done'; readonly inputsKey: string; readonly at: Date; readonly result: T }
  | {
      readonly kind: 'failed';
      readonly inputsKey: string;
      readonly at: Date;
      readonly error: unknown;
      /** Failures in a row for the same basis. */
      readonly failures: number;
    };

/** What slow work gets to work with. */
export interface WorkContext {
  /** Aborts when the control plane is gone or the process ends: stop, leave nothing half done, and throw its reason. */
  readonly signal: AbortSignal;
  /** Says how far it is, for people, such as `120 of 480 MiB uploaded`. */
  readonly report: (progress: string) => void;
}

/**
 * Slow work of one control plane, beside the queue: a pass begins it and looks at it, and never waits for it. Nothing is
 * remembered by a process that was killed: what was done has to show in the world.
 */
export interface Work {
  state<T>(name: string): WorkState<T>;
  /**
   * Begins, unless work of this name is running already. Another pass comes when it has ended, and now and then when it
   * reports progress.
   * @param basis what it is done for, to tell the result from that of another one
   * @param turn `waits` for what a whole fleet does at the same hour; everything else begins at once, because a few stores
   * that are slow must not hold up somebody's restore
   */
  start<T>(name: string, inputsKey: string, run: (context: WorkContext) => Promise<T>, turn?: 'waits'): WorkState<T>;
  /** Aborts work of this name, if it runs, and forgets its state. */
  cancel(name: string): void;
}

export interface BackgroundWorkOptions {
  readonly clock: Clock;
  /** Hears of the key of a control plane whose work has ended or made progress. */
  readonly onChange: (key: string) => void;
  /** How much of what waits for its turn may run at a time. */
  readonly concurrency?: number;
}

/** A status that is written for every percent would be a write a second. */
const progressMs = 10_000;

interface Entry {
  state: WorkState;
  readonly controller: AbortController;
  ended: Promise<void>;
  reportedAt: number;
}

/** All slow work of this process. */
export class BackgroundWork {
  readonly #options: BackgroundWorkOptions;
  readonly #entries = new Map<string, Map<string, Entry>>();
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(options: BackgroundWorkOptions) {
    this.#options = options;
    this.#free = options.concurrency ?? 8;
  }

  /** The work of one control plane, by the key of its HostedControlPlane. */
  of(key: string): Work {
    return {
      state: <T>(name: string) => (this.#entries.get(key)?.get(name)?.state ?? { kind: 'idle' }) as WorkState<T>,
      start: <T>(name: string, inputsKey: string, run: (context: WorkContext) => Promise<T>, turn?: 'waits') =>
        this.#start(
          key,
          name,
          inputsKey,
          turn === 'waits' ? (context) => this.#inTurn(context, run) : run,
        ) as WorkState<T>,
      cancel: (name) => this.#cancel(key, name),
    };
  }

  /** How much of it runs now, or waits for its turn. */
  get running(): number {
    const states = [...this.#entries.values()].flatMap((works) => [...works.values()].map(({ state }) => state));
    return states.filter(({ kind }) => kind === 'running').length;
  }

  /** Aborts what runs for a control plane that is gone, and drops what is known of it. */
  forget(key: string): void {
    for (const { controller } of this.#entries.get(key)?.values() ?? []) controller.abort(stopped());
    this.#entries.delete(key);
  }

  /** Aborts everything and resolves when it has ended. */
  async close(): Promise<void> {
    const entries = [...this.#entries.values()].flatMap((works) => [...works.values()]);
    for (const { controller } of entries) controller.abort(stopped());
    await Promise.all(entries.map(({ ended }) => ended));
  }

  #start(key: string, name: string, inputsKey: string, run: (context: WorkContext) => Promise<unknown>): WorkState {
    const works = this.#entries.get(key) ?? new Map<string, Entry>();
    this.#entries.set(key, works);
    const known = works.get(name);
    if (known?.state.kind === 'running') return known.state;
    const failures = known?.state.kind === 'failed' && known.state.inputsKey === inputsKey ? known.state.failures : 0;
    const entry: Entry = {
      state: { kind: 'running', inputsKey, since: this.#now(), progress: 'it has begun' },
      controller: new AbortController(),
      ended: Promise.resolve(),
      reportedAt: this.#options.clock.now(),
    };
    works.set(name, entry);
    entry.ended = this.#run(key, entry, inputsKey, failures, run);
    return entry.state;
  }

  async #run(
    key: string,
    entry: Entry,
    inputsKey: string,
    failures: number,
    run: (context: WorkContext) => Promise<unknown>,
  ): Promise<void> {
    const { signal } = entry.controller;
    try {
      const result = await run({ signal, report: (progress) => this.#report(key, entry, progress) });
      entry.state = { kind: 'done', inputsKey, at: this.#now(), result };
    } catch (error) {
      entry.state = { kind: 'failed', inputsKey, at: this.#now(), error, failures: failures + 1 };
    }
    if (!signal.aborted) this.#options.onChange(key);
  }

  #report(key: string, entry: Entry, progress: string): void {
    if (entry.state.kind !== 'running') return;
    entry.state = { ...entry.state, progress };
    if (this.#options.clock.now() - entry.reportedAt < progressMs) return;
    entry.reportedAt = this.#options.clock.now();
    this.#options.onChange(key);
  }

  #cancel(key: string, name: string): void {
    this.#entries.get(key)?.get(name)?.controller.abort(stopped());
    this.#entries.get(key)?.delete(name);
  }

  async #inTurn<T>(context: WorkContext, run: (context: WorkContext) => Promise<T>): Promise<T> {
    context.report('waiting for its turn');
    await this.#turn();
    try {
      context.signal.throwIfAborted();
      return await run(context);
    } finally {
      this.#next();
    }
  }

  #turn(): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return Promise.resolve();
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #next(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free += 1;
  }

  #now(): Date {
    return new Date(this.#options.clock.now());
  }
}

function stopped(): Error {
  return new Error('stopped, because the control plane is gone, what was asked for has changed, or the operator ends');
}
