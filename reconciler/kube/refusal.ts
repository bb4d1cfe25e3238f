import type { Dispatcher } from 'undici';
import { whenAskedToLeave } from './connection-pool.ts';

/** Time in which a server answers what it has accepted before it asked to leave the connection, in milliseconds. */
const patienceMs = 1_000;

/** A request that its server has most likely refused. It can be sent again at once, over another connection. */
export class RefusedError extends Error {}

/**
 * Aborts a request that has no answer a second after the server asked to leave its connection. Only for requests that
 * can be sent twice: a slow answer and a refusal look alike.
 */
export class Refusal {
  readonly #controller = new AbortController();
  readonly #ignore: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(pool: Dispatcher) {
    this.#ignore = whenAskedToLeave(pool, () => {
      const error = new RefusedError('the server asked to leave the connection, and did not answer');
      this.#timer ??= setTimeout(() => this.#controller.abort(error), patienceMs);
    });
  }

  /** Aborts with a RefusedError. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Must be called when the answer has begun, or will never come. */
  release(): void {
    this.#ignore();
    clearTimeout(this.#timer);
  }
}
