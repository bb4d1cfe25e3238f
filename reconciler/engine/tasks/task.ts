import type { Work, WorkContext, WorkState } from './background-work.ts';
import type { Turn } from './turns.ts';

/** A background task for certain inputs, and when it runs again. */
export interface TaskOptions<T> {
  readonly name: string;
  /** The inputs, as text to compare. A result or a failure with other inputs does not count. */
  readonly inputsKey: string;
  /** Time from a failure to the next attempt. */
  readonly retryMs: number | ((failure: Failure) => number);
  /** How long a result is valid. By default it does not expire. */
  readonly holdsMs?: (result: T) => number;
  /** Whether a running task with other inputs is aborted. By default it ends first. */
  readonly supersedes?: boolean;
  /** What it waits for, as in {@link Work.start}. */
  readonly turn?: Turn;
}

/** A failed attempt. */
export type Failure = Extract<WorkState, { readonly kind: 'failed' }>;

/** One background task as a reconcile finds it. */
export interface Task<T> {
  /**
   * Its state. It is idle when the known state is of other inputs, unless a task with those is still running and is not
   * superseded.
   */
  readonly state: WorkState<T>;
  /** The task has never run with these inputs, its retry is due, or its result has expired. */
  readonly isDue: boolean;
  /** Starts it in the background. Call it only when it is due. */
  start(run: (context: WorkContext) => Promise<T>): void;
}

/** Finds a task of a control plane, so that its phase can start it when it is due. */
export function findTask<T>(work: Work, now: Date, options: TaskOptions<T>): Task<T> {
  const { name, inputsKey, supersedes = false } = options;
  const found = work.state<T>(name);
  const isCurrent = found.kind !== 'idle' && found.inputsKey === inputsKey;
  const isAwaited = found.kind === 'running' && !isCurrent && !supersedes;
  const state: WorkState<T> = isCurrent || isAwaited ? found : { kind: 'idle' };
  return {
    state,
    isDue: now.getTime() >= dueAt(state, options),
    start: (run) => {
      if (found.kind === 'running' && !isCurrent) work.cancel(name);
      work.start(name, inputsKey, run, options.turn);
    },
  };
}

/** When a failed attempt is repeated, in milliseconds since the epoch. */
export function retryTime(failure: Failure, retryMs: number | ((failure: Failure) => number)): number {
  return failure.at.getTime() + (typeof retryMs === 'number' ? retryMs : retryMs(failure));
}

function dueAt<T>(state: WorkState<T>, { retryMs, holdsMs }: TaskOptions<T>): number {
  switch (state.kind) {
    case 'idle':
      return -Infinity;
    case 'running':
      return Infinity;
    case 'done':
      return holdsMs ? state.at.getTime() + holdsMs(state.result) : Infinity;
    case 'failed':
      return retryTime(state, retryMs);
  }
}
