import type { Clock } from '../../kube/clock.ts';
import type { TurnLimit } from './next-turn.ts';
import { type Turn, turnLimits, Turns } from './turns.ts';
import { detached } from '../../kube/span.ts';

/** State of a background task. */
export type WorkState<T = unknown> =
  /** Never started, or forgotten. */
  | { readonly kind: 'idle' }
  | { readonly kind: 'running'; readonly inputsKey: string; readonly since: Date; readonly progress: string }
  | { readonly kind: 'done'; readonly inputsKey: string; readonly at: Date; readonly result: T }
  | {
      readonly kind: 'failed';
      readonly inputsKey: string;
      readonly at: Date;
      readonly error: unknown;
      /** Consecutive failures with the same inputs. */
      readonly failures: number;
    };

/** What a background task works with. */
export interface WorkContext {
  /**
   * Aborts when the control plane is deleted, the task is canceled, or the process ends. The task must then stop, leave
   * nothing half done, and throw the reason of the signal.
   */
  readonly signal: AbortSignal;
  /** Reports progress to users, such as `120 of 480 MiB uploaded`. */
  readonly report: (progress: string) => void;
  /** Counts bytes that the task has sent or received, where others may wait for its turn. */
  readonly moved?: ((bytes: number) => void) | undefined;
}

/** The progress of a task that does not run yet. */
export const waitingForTurn = 'waiting for its turn';

/**
 * Background tasks of one control plane. A reconcile starts a task and reads its state, but never waits for it. A new
 * process remembers nothing: the effects of a task must be observable elsewhere.
 */
export interface Work {
  state<T>(name: string): WorkState<T>;
  /**
   * Starts a task, unless one with this name runs already. Another reconcile follows when it has ended, and at
   * intervals when it reports progress.
   * @param inputsKey identifies the inputs of the task, so that its result is not used for other inputs
   * @param turn for tasks that hold memory, bandwidth or space that control planes share. All others start immediately.
   */
  start<T>(name: string, inputsKey: string, run: (context: WorkContext) => Promise<T>, turn?: Turn): WorkState<T>;
  /** Aborts the task with this name, if it runs, and forgets its state. */
  cancel(name: string): void;
}

export interface BackgroundWorkOptions {
  readonly clock: Clock;
  /** Called with the key of a control plane when one of its tasks has ended or made progress. */
  readonly onChange: (key: string) => void;
  /** Notes that a task of a control plane begins. @returns notes that it has ended */
  readonly take?: ((key: string, isTask: boolean) => () => void) | undefined;
  /** Throws why no task may run. */
  readonly refuse?: (() => never) | undefined;
  /** Limits of turns that differ from the usual ones. */
  readonly limits?: Partial<Record<Turn, TurnLimit>>;
}

/** Minimum interval of progress reports. A status update for every percent would be one write per second. */
const progressMs = 10_000;

interface Entry {
  state: WorkState;
  readonly controller: AbortController;
  reportedAt: number;
}

/** All background tasks of this process. */
export class BackgroundWork {
  readonly #options: BackgroundWorkOptions;
  readonly #entries = new Map<string, Map<string, Entry>>();
  /** All tasks that have not ended, those of forgotten control planes included. */
  readonly #running = new Set<Promise<void>>();
  readonly #turns: Readonly<Record<Turn, Turns>>;

  constructor(options: BackgroundWorkOptions) {
    this.#options = options;
    const turns = (turn: Turn) => new Turns(options.limits?.[turn] ?? turnLimits[turn], options.clock);
    this.#turns = {
      upload: turns('upload'),
      restore: turns('restore'),
      listing: turns('listing'),
      verification: turns('verification'),
    };
  }

  /** The background tasks of one control plane, by the key of its HostedControlPlane. */
  of(key: string): Work {
    return {
      state: <T>(name: string) => (this.#entries.get(key)?.get(name)?.state ?? { kind: 'idle' }) as WorkState<T>,
      start: <T>(name: string, inputsKey: string, run: (context: WorkContext) => Promise<T>, turn?: Turn) =>
        this.#start(
          key,
          name,
          inputsKey,
          turn === undefined ? run : (context) => this.#inTurn(turn, key, context, run),
        ) as WorkState<T>,
      cancel: (name) => this.#cancel(key, name),
    };
  }

  /** Number of tasks that run now or wait for their turn. */
  get running(): number {
    const states = [...this.#entries.values()].flatMap((works) => [...works.values()].map(({ state }) => state));
    return states.filter(({ kind }) => kind === 'running').length;
  }

  /** Aborts the tasks of a control plane that is gone, and forgets their state. */
  forget(key: string): void {
    for (const { controller } of this.#entries.get(key)?.values() ?? []) controller.abort(stopped());
    this.#entries.delete(key);
  }

  /** Aborts all tasks, and resolves when they have ended. */
  async close(): Promise<void> {
    for (const key of this.#entries.keys()) this.forget(key);
    await Promise.all(this.#running);
  }

  #start(key: string, name: string, inputsKey: string, run: (context: WorkContext) => Promise<unknown>): WorkState {
    const works = this.#entries.get(key) ?? new Map<string, Entry>();
    this.#entries.set(key, works);
    const known = works.get(name);
    if (known?.state.kind === 'running') return known.state;
    const failures = known?.state.kind === 'failed' && known.state.inputsKey === inputsKey ? known.state.failures : 0;
    const entry: Entry = {
      state: { kind: 'running', inputsKey, since: this.#now(), progress: 'started' },
      controller: new AbortController(),
      reportedAt: this.#options.clock.now(),
    };
    works.set(name, entry);
    const running = detached(() => this.#run(key, entry, inputsKey, failures, run));
    const ended = running.finally(() => this.#running.delete(ended));
    this.#running.add(ended);
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
    const release = this.#options.take?.(key, true);
    try {
      this.#options.refuse?.();
      const result = await run({ signal, report: (progress) => this.#report(key, entry, progress) });
      entry.state = { kind: 'done', inputsKey, at: this.#now(), result };
    } catch (error) {
      entry.state = { kind: 'failed', inputsKey, at: this.#now(), error, failures: failures + 1 };
    } finally {
      release?.();
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

  #inTurn<T>(turn: Turn, key: string, context: WorkContext, run: (context: WorkContext) => Promise<T>): Promise<T> {
    context.report(waitingForTurn);
    const [namespace = ''] = key.split('/');
    return this.#turns[turn].run(namespace, context.signal, (held) => run({ ...context, ...held }));
  }

  #now(): Date {
    return new Date(this.#options.clock.now());
  }
}

function stopped(): Error {
  return new Error(
    'stopped because the control plane was deleted, the request has changed, or the operator shuts down',
  );
}
