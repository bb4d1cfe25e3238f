import { setImmediate as turn } from 'node:timers/promises';
import type { Work, WorkContext, WorkState } from '../../reconciler/engine/tasks/background-work.ts';

/**
 * Background work on a simulated clock. Work that has not ended after a reconcile, such as repeated requests, is aborted: the
 * next reconcile starts it again.
 */
export class ReconcileWork implements Work {
  readonly #now: () => number;
  readonly #states = new Map<string, WorkState>();
  readonly #running = new Map<string, AbortController>();

  constructor(now: () => number) {
    this.#now = now;
  }

  state<T>(name: string): WorkState<T> {
    return (this.#states.get(name) ?? { kind: 'idle' }) as WorkState<T>;
  }

  start<T>(name: string, inputsKey: string, run: (context: WorkContext) => Promise<T>): WorkState<T> {
    const controller = new AbortController();
    this.#running.set(name, controller);
    this.#states.set(name, { kind: 'running', inputsKey, since: this.#date, progress: '' });
    const end = (state: WorkState) => {
      if (this.#running.get(name) !== controller) return;
      this.#running.delete(name);
      this.#states.set(name, state);
    };
    run({ signal: controller.signal, report: () => {} }).then(
      (result) => end({ kind: 'done', inputsKey, at: this.#date, result }),
      (error: unknown) => end({ kind: 'failed', inputsKey, at: this.#date, error, failures: 1 }),
    );
    return this.state(name);
  }

  cancel(name: string): void {
    this.#running.get(name)?.abort();
    this.#running.delete(name);
    this.#states.delete(name);
  }

  /** Lets all work continue as far as it can without waiting. Returns whether any has ended. */
  async settle(): Promise<boolean> {
    const before = this.#running.size;
    // each turn runs everything that does not wait for the clock
    for (let count = 0; count < 10 && this.#running.size > 0; count++) await turn();
    const ended = before - this.#running.size;
    for (const name of this.#running.keys()) this.cancel(name);
    return ended > 0;
  }

  /** The process ends. */
  forget(): void {
    for (const name of [...this.#running.keys(), ...this.#states.keys()]) this.cancel(name);
  }

  get #date(): Date {
    return new Date(this.#now());
  }
}
