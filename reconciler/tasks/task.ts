import type { Work, WorkContext, WorkState } from './background-work.ts';

/** Slow work for certain inputs, and when it is done again. */
export interface TaskOptions<T> {
  readonly name: string;
  /** What it is done for, as text to compare: a result or a failure of other inputs does not count. */
  readonly inputsKey: string;
  /** Time from a failure to the next attempt. */
  readonly retryMs: number | ((failure: Failure) => number);
  /** How long a result holds. By default it does not expire. */
  readonly holdsMs?: (result: T) => number;
  /** Whether work for other inputs is aborted. By default it ends first. */
  readonly supersedes?: boolean;
}

/** A failed attempt. */
export type Failure = Extract<WorkState, { readonly kind: 'failed' }>;

/** One piece of slow work as a reconcile finds it. */
export interface Task<T> {
  /** Its state; idle when what is known is about other inputs, unless that is still running. */
  readonly state: WorkState<T>;
  /** It was never done for these inputs, its retry is due, or its result has expired. */
  readonly isDue: boolean;
  /** Begins it beside the queue. Call it only when it is due. */
  start(run: (context: WorkContext) => Promise<T>): void;
}

/** Finds a task of a control plane, so that its phase can begin it when that is due. */
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
      work.start(name, inputsKey, run);
    },
  };
}

/** Milliseconds since the epoch at which a failed attempt is made again. */
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
